import { Button, Checkbox, Fieldset, Stack, Table, Text, TextInput } from '@mantine/core';
import { type Contract, type InputOf, SheafError } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { Empty } from '../components/empty.tsx';
import { EndpointState } from '../components/endpoint-state.tsx';
import { Foreign } from '../components/foreign.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { LinkTo } from '../components/link-to.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Rows } from '../components/rows.tsx';
import { Secret } from '../components/secret.tsx';
import { chosenOf, type FormTask } from '../components/use-form-task.ts';
import { queryClient, slugsOf } from '../queries.ts';
import { service } from '../service.ts';
import { t } from '../text.ts';
import { type Endpoint, endpointsQuery } from '../webhook-queries.ts';

const route = getRouteApi('/o/$organization/$workspace/admins/webhooks');

type EventName = InputOf<Contract['webhooks']['create']>['events'][number];

/** The addresses that are told of events. */
export default function Webhooks() {
  const { organization } = route.useRouteContext();
  const [isCreating, setIsCreating] = useState(false);
  const [secret, setSecret] = useState<string>();
  const endpoints = useQuery(endpointsQuery(organization.id));
  if (endpoints.error instanceof SheafError && endpoints.error.is('PRECONDITION_FAILED')) return <Off />;
  const onMade = async (made: string | null) => {
    setIsCreating(false);
    setSecret(made ?? undefined);
    await queryClient.invalidateQueries({ queryKey: ['webhooks'] });
  };
  return (
    <>
      <PageHead title={t.nav.pages.webhooks}>
        <Button onClick={() => setIsCreating(true)}>{t.webhooks.create}</Button>
      </PageHead>
      <Text c="dimmed" mb="md">
        {t.webhooks.hint}
      </Text>
      <Loaded query={endpoints}>
        {(items) =>
          items.length === 0 ? <Empty title={t.webhooks.emptyTitle} text={t.webhooks.empty} /> : <EndpointTable items={items} />
        }
      </Loaded>
      {isCreating && <Create onMade={onMade} onClose={() => setIsCreating(false)} />}
      {secret && (
        <Secret title={t.webhooks.secretTitle} hint={t.webhooks.secretHint} secret={secret} onClose={() => setSecret(undefined)} />
      )}
    </>
  );
}

/** Only the operator of the service turns webhooks on. */
function Off() {
  return (
    <>
      <PageHead title={t.nav.pages.webhooks} />
      <Empty title={t.webhooks.offTitle} text={t.webhooks.off} />
    </>
  );
}

function EndpointTable({ items }: { items: Endpoint[] }) {
  const params = slugsOf(route.useRouteContext());
  return (
    <Rows heads={[t.account.address, t.webhooks.events, t.jobs.state]}>
      {items.map((endpoint) => (
        <Table.Tr key={endpoint.id}>
          <Table.Td>
            <LinkTo to="/o/$organization/$workspace/webhooks/$id" params={{ ...params, id: endpoint.id }} size="sm" className="foreign">
              {endpoint.url}
            </LinkTo>
            <Foreign c="dimmed">{endpoint.description}</Foreign>
          </Table.Td>
          <Table.Td>
            <Text>{endpoint.events.join(', ')}</Text>
          </Table.Td>
          <Table.Td>
            <EndpointState endpoint={endpoint} />
          </Table.Td>
        </Table.Tr>
      ))}
    </Rows>
  );
}

function Create({ onMade, onClose }: { onMade: (secret: string | null) => Promise<void>; onClose: () => void }) {
  const { organization } = route.useRouteContext();
  const create: FormTask = async ({ url = '', description = '' }, data) => {
    const events = chosenOf<EventName>(data, 'events', t.webhooks.eventsLabel);
    const { secret } = await service.webhooks.create({ organizationId: organization.id, url, description, events });
    await onMade(secret);
  };
  return (
    <FormDialog title={t.webhooks.createTitle} action={t.start.create} task={create} onClose={onClose}>
      <TextInput label={t.account.address} name="url" type="url" required maxLength={2048} placeholder={t.webhooks.urlExample} />
      <TextInput label={t.webhooks.description} name="description" maxLength={200} />
      <Fieldset legend={t.webhooks.eventsLabel}>
        <Stack gap="xs">
          {Object.entries(t.webhooks.eventNames).map(([value, label]) => (
            <Checkbox key={value} size="sm" name="events" value={value} label={label} defaultChecked={/^(job|document)/.test(value)} />
          ))}
        </Stack>
      </Fieldset>
    </FormDialog>
  );
}
