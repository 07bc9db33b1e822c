import { Table, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { allOrganizationsQuery, type ListedOrganization } from '../../admin-queries.ts';
import { Empty } from '../../components/empty.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { OverridePlan } from '../../components/override-plan.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Paged } from '../../components/paged.tsx';
import { QueryForm } from '../../components/query-form.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import { Rows } from '../../components/rows.tsx';
import { StateMark } from '../../components/state-mark.tsx';
import { TimeCell } from '../../components/time.tsx';
import type { FormTask } from '../../components/use-form-task.ts';
import { service } from '../../service.ts';
import { formatDay, formatNumber, t } from '../../text.ts';

const listed = ['admin', 'organizations'];

const route = getRouteApi('/admin/organizations');

/** Every organization of the deployment. */
export default function Organizations() {
  const { q } = route.useSearch();
  const navigate = useNavigate({ from: '/admin/organizations' });
  const organizations = useInfiniteQuery(allOrganizationsQuery(q));
  const items = organizations.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <>
      <PageHead title={t.admin.pages.organizations} />
      <QueryForm
        label={t.admin.findOrganization}
        placeholder=""
        submit={t.admin.find}
        q={q}
        isOptional
        onAsk={(asked) => void navigate({ search: { q: asked || undefined } })}
      />
      <Paged query={organizations} isEmpty={items.length === 0} empty={<Empty text={t.admin.noneFound} />}>
        <OrganizationTable items={items} />
      </Paged>
    </>
  );
}

function OrganizationTable({ items }: { items: ListedOrganization[] }) {
  const [asked, setAsked] = useState<{ what: 'suspend' | 'plan'; organization: ListedOrganization }>();
  const onClose = () => setAsked(undefined);
  return (
    <>
      <Rows
        heads={[
          t.documents.name,
          t.nav.pages.plan,
          { number: t.nav.pages.members },
          { number: t.nav.pages.workspaces },
          t.common.created,
          { number: t.common.actions },
        ]}
      >
        {items.map((organization) => (
          <OrganizationRow key={organization.id} organization={organization} onAsk={(what) => setAsked({ what, organization })} />
        ))}
      </Rows>
      {asked?.what === 'suspend' && <Suspend organization={asked.organization} onClose={onClose} />}
      {asked?.what === 'plan' && <OverridePlan organization={asked.organization} onClose={onClose} />}
    </>
  );
}

function Suspend({ organization: { id: organizationId, name }, onClose }: { organization: ListedOrganization; onClose: () => void }) {
  const task: FormTask = ({ reason = '' }) => service.admin.organizations.suspend({ organizationId, reason: reason.trim() });
  return (
    <FormDialog title={t.admin.suspendTitle(name)} action={t.admin.suspend} task={task} changes={listed} onClose={onClose}>
      <Text>{t.admin.suspendText}</Text>
      <TextInput label={t.keeping.reason} name="reason" maxLength={300} required />
    </FormDialog>
  );
}

function OrganizationRow({
  organization: { id, name, slug, plan, subscription, members, workspaces, createdAt, suspension, byHand },
  onAsk,
}: {
  organization: ListedOrganization;
  onAsk: (what: 'suspend' | 'plan') => void;
}) {
  return (
    <Table.Tr>
      <Table.Td>
        <Foreign fw={550}>{name}</Foreign>
        <Foreign c="dimmed">{`${slug} · ${id}`}</Foreign>
        {suspension && (
          <>
            <StateMark tone="bad">{t.apiKeys.states.suspended}</StateMark>
            <Foreign c="dimmed">{suspension.reason}</Foreign>
          </>
        )}
      </Table.Td>
      <Table.Td>
        {plan ? t.plan.names[plan] : t.admin.says.billingOff}
        {byHand && <Foreign c="dimmed">{t.plan.byHand(formatDay(byHand.until), byHand.reason)}</Foreign>}
        {subscription && <Text c="dimmed">{t.plan.states[subscription.status]}</Text>}
      </Table.Td>
      <Table.Td className="number" data-label={t.nav.pages.members}>
        {formatNumber(members)}
      </Table.Td>
      <Table.Td className="number" data-label={t.nav.pages.workspaces}>
        {formatNumber(workspaces)}
      </Table.Td>
      <TimeCell at={createdAt} />
      <Table.Td className="number">
        <RowMenu
          name={name}
          changes={listed}
          actions={[
            plan !== null && { label: t.byHand.change, run: () => onAsk('plan') },
            byHand && { label: t.byHand.end, run: () => service.admin.organizations.endPlanOverride({ organizationId: id }) },
            suspension
              ? { label: t.admin.lift, run: () => service.admin.organizations.liftSuspension({ organizationId: id }) }
              : { label: t.admin.suspend, isDangerous: true, run: () => onAsk('suspend') },
          ]}
        />
      </Table.Td>
    </Table.Tr>
  );
}
