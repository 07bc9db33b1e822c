import { Button, Checkbox, Fieldset, NativeSelect, Stack, Table, Text, TextInput } from '@mantine/core';
import type { Contract, OutputOf } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { Confirm } from '../components/confirm.tsx';
import { Empty } from '../components/empty.tsx';
import { Foreign } from '../components/foreign.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { Rows } from '../components/rows.tsx';
import { Secret } from '../components/secret.tsx';
import { StateMark } from '../components/state-mark.tsx';
import { Time } from '../components/time.tsx';
import { chosenOf, type FormTask } from '../components/use-form-task.ts';
import { apiKeysQuery, queryClient, workspacesQuery } from '../queries.ts';
import { service } from '../service.ts';
import { formatRelative, t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/admins/api-keys');

type ApiKey = OutputOf<Contract['apiKeys']['list']>[number];
type Permission = keyof typeof t.apiKeys.permissions;
type Asked = { what: 'create' } | { what: 'rotate' | 'revoke'; key: ApiKey } | { what: 'secret'; secret: string };

const usual: Permission[] = ['workspace:read', 'document:read', 'document:create', 'job:read', 'job:create'];
const lifetimes = [30, 90, 365];

/** The keys that programs call with. */
export default function ApiKeys() {
  const { organization } = route.useRouteContext();
  const [asked, setAsked] = useState<Asked>();
  const onClose = () => setAsked(undefined);
  const onSecret = async ({ secret }: { secret: string }) => {
    setAsked({ what: 'secret', secret });
    await queryClient.invalidateQueries({ queryKey: ['api-keys'] });
  };
  const keys = useQuery(apiKeysQuery(organization.id));
  return (
    <>
      <PageHead title={t.nav.pages['api-keys']}>
        <Button onClick={() => setAsked({ what: 'create' })}>{t.apiKeys.create}</Button>
      </PageHead>
      <Text c="dimmed" mb="md">
        {t.apiKeys.hint}
      </Text>
      <Loaded query={keys}>
        {(items) =>
          items.length === 0 ? <Empty title={t.apiKeys.emptyTitle} text={t.apiKeys.empty} /> : <KeyTable items={items} onAsk={setAsked} />
        }
      </Loaded>
      {asked?.what === 'create' && <Create onSecret={onSecret} onClose={onClose} />}
      {asked?.what === 'rotate' && <Rotate apiKey={asked.key} onSecret={onSecret} onClose={onClose} />}
      {asked?.what === 'revoke' && <Revoke apiKey={asked.key} onClose={onClose} />}
      {asked?.what === 'secret' && (
        <Secret title={t.apiKeys.secretTitle} hint={t.apiKeys.secretHint} secret={asked.secret} onClose={onClose} />
      )}
    </>
  );
}

const tones = { active: 'good', expired: 'quiet', suspended: 'bad' } as const;

function KeyTable({ items, onAsk }: { items: ApiKey[]; onAsk: (asked: Asked) => void }) {
  return (
    <Rows heads={[t.documents.name, t.documents.status, t.members.expires, t.apiKeys.lastUsed, { number: t.common.actions }]}>
      {items.map((key) => (
        <KeyRow key={key.id} apiKey={key} onAsk={onAsk} />
      ))}
    </Rows>
  );
}

function KeyRow({ apiKey, onAsk }: { apiKey: ApiKey; onAsk: (asked: Asked) => void }) {
  const { name, prefix, status, expiresAt, lastUsedAt, overlapEndsAt, permissions } = apiKey;
  return (
    <Table.Tr>
      <Table.Td>
        <Stack gap={2}>
          <Foreign fw={550}>{name}</Foreign>
          <Text c="dimmed">
            {`${prefix}… · `}
            <Reach apiKey={apiKey} />
          </Text>
          <Text size="xs" c="dimmed">
            {permissions.join(', ')}
          </Text>
          {overlapEndsAt && <Text c="dimmed">{t.apiKeys.overlapEnds(formatRelative(overlapEndsAt))}</Text>}
        </Stack>
      </Table.Td>
      <Table.Td>
        <StateMark tone={tones[status]}>{t.apiKeys.states[status]}</StateMark>
      </Table.Td>
      <Table.Td data-label={t.members.expires}>{expiresAt ? <Time at={expiresAt} /> : t.common.never}</Table.Td>
      <Table.Td data-label={t.apiKeys.lastUsed}>{lastUsedAt ? <Time at={lastUsedAt} /> : t.common.never}</Table.Td>
      <Table.Td>
        <RowMenu
          name={name}
          actions={[
            { label: t.apiKeys.rotate, run: () => onAsk({ what: 'rotate', key: apiKey }) },
            { label: t.apiKeys.revoke, isDangerous: true, run: () => onAsk({ what: 'revoke', key: apiKey }) },
          ]}
        />
      </Table.Td>
    </Table.Tr>
  );
}

function Reach({ apiKey: { workspaceId } }: { apiKey: ApiKey }) {
  const { organization } = route.useRouteContext();
  const { data = [] } = useQuery(workspacesQuery(organization.id));
  if (workspaceId === null) return t.apiKeys.everything;
  return <span className="foreign">{data.find(({ id }) => id === workspaceId)?.name ?? t.apiKeys.gone}</span>;
}

interface SecretDialog {
  onSecret: (made: { secret: string }) => Promise<void>;
  onClose: () => void;
}

function Create({ onSecret, onClose }: SecretDialog) {
  const { organization } = route.useRouteContext();
  const { data: workspaces = [] } = useQuery(workspacesQuery(organization.id));
  const create: FormTask = async ({ name = '', workspaceId, lifetime }, data) => {
    const made = await service.apiKeys.create({
      organizationId: organization.id,
      name,
      permissions: chosenOf<Permission>(data, 'permissions', t.apiKeys.permissionsLabel),
      expiresInDays: lifetime ? Number(lifetime) : null,
      ...(workspaceId ? { workspaceId } : {}),
    });
    await onSecret(made);
  };
  return (
    <FormDialog title={t.apiKeys.createTitle} action={t.start.create} task={create} onClose={onClose}>
      <TextInput label={t.documents.name} name="name" required maxLength={80} />
      <NativeSelect
        label={t.apiKeys.reach}
        name="workspaceId"
        data={[{ value: '', label: t.apiKeys.everything }, ...workspaces.map(({ id, name }) => ({ value: id, label: name }))]}
      />
      <Fieldset legend={t.apiKeys.permissionsLabel}>
        <Stack gap="xs">
          {Object.entries(t.apiKeys.permissions).map(([value, label]) => (
            <Checkbox
              key={value}
              size="sm"
              name="permissions"
              value={value}
              label={label}
              defaultChecked={usual.includes(value as Permission)}
            />
          ))}
        </Stack>
      </Fieldset>
      <NativeSelect
        label={t.apiKeys.lifetime}
        name="lifetime"
        defaultValue="90"
        data={[...lifetimes.map((days) => ({ value: String(days), label: t.apiKeys.days(days) })), { value: '', label: t.common.never }]}
      />
    </FormDialog>
  );
}

function Rotate({ apiKey: { id, name }, onSecret, onClose }: SecretDialog & { apiKey: ApiKey }) {
  const rotate: FormTask = async ({ overlap }) => onSecret(await service.apiKeys.rotate({ id, overlapSeconds: Number(overlap) }));
  return (
    <FormDialog title={t.apiKeys.rotateTitle(name)} action={t.apiKeys.rotate} task={rotate} onClose={onClose}>
      <Text>{t.apiKeys.rotateText}</Text>
      <NativeSelect
        label={t.apiKeys.overlap}
        name="overlap"
        defaultValue="86400"
        data={Object.entries(t.apiKeys.overlaps).map(([value, label]) => ({ value, label }))}
      />
    </FormDialog>
  );
}

function Revoke({ apiKey: { id, name }, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  return (
    <Confirm
      title={t.apiKeys.revokeTitle(name)}
      text={t.apiKeys.revokeText}
      action={t.apiKeys.revoke}
      task={() => service.apiKeys.revoke({ id })}
      changes={['api-keys']}
      onClose={onClose}
    />
  );
}
