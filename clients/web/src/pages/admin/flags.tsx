import { Button, Checkbox, Group, NativeSelect, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Flag, flagsQuery } from '../../admin-queries.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Empty } from '../../components/empty.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import { Rows } from '../../components/rows.tsx';
import { StateMark } from '../../components/state-mark.tsx';
import { TaskButton } from '../../components/task-button.tsx';
import type { FormTask } from '../../components/use-form-task.ts';
import { service } from '../../service.ts';
import { t } from '../../text.ts';

const changes = ['admin', 'flags'];

/** The feature flags, for all organizations and for single ones. */
export default function Flags() {
  const flags = useQuery(flagsQuery);
  const [isNew, setIsNew] = useState(false);
  return (
    <>
      <PageHead title={t.admin.pages.flags}>
        <Button onClick={() => setIsNew(true)}>{t.admin.newFlag}</Button>
      </PageHead>
      <Loaded query={flags}>{(items) => (items.length === 0 ? <Empty text={t.admin.noFlags} /> : <FlagTable items={items} />)}</Loaded>
      {isNew && <NewFlag onClose={() => setIsNew(false)} />}
    </>
  );
}

function FlagTable({ items }: { items: Flag[] }) {
  const [asked, setAsked] = useState<{ what: 'override' | 'delete'; key: string }>();
  const onClose = () => setAsked(undefined);
  return (
    <>
      <Rows heads={[t.documents.name, t.jobs.state, t.admin.overrides, { number: t.common.actions }]}>
        {items.map((flag) => (
          <FlagRow key={flag.key} flag={flag} onAsk={(what) => setAsked({ what, key: flag.key })} />
        ))}
      </Rows>
      {asked?.what === 'override' && <Override flagKey={asked.key} onClose={onClose} />}
      {asked?.what === 'delete' && (
        <Confirm
          title={t.documents.deleteTitle(asked.key)}
          text={t.admin.deleteFlagText}
          action={t.common.delete}
          task={() => service.admin.flags.delete({ key: asked.key })}
          changes={changes}
          onClose={onClose}
        />
      )}
    </>
  );
}

function FlagRow({ flag: { key, description, enabled, overrides }, onAsk }: { flag: Flag; onAsk: (what: 'override' | 'delete') => void }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Foreign fw={550}>{key}</Foreign>
        <Foreign c="dimmed">{description}</Foreign>
      </Table.Td>
      <Table.Td>
        <OnOff enabled={enabled} />
      </Table.Td>
      <Table.Td>
        {overrides.map(({ organizationId, enabled }) => (
          <Group key={organizationId} gap="xs" mb={4}>
            <Text className="foreign">{organizationId}</Text>
            <OnOff enabled={enabled} />
            <TaskButton
              task={() => service.admin.flags.setOverride({ key, organizationId, enabled: null })}
              changes={changes}
              label={t.admin.removeOverride(organizationId)}
            >
              {t.common.remove}
            </TaskButton>
          </Group>
        ))}
      </Table.Td>
      <Table.Td className="number">
        <RowMenu
          name={key}
          changes={changes}
          actions={[
            { label: enabled ? t.account.turnOff : t.account.turnOn, run: () => service.admin.flags.upsert({ key, enabled: !enabled }) },
            { label: t.admin.override, run: () => onAsk('override') },
            { label: t.common.delete, isDangerous: true, run: () => onAsk('delete') },
          ]}
        />
      </Table.Td>
    </Table.Tr>
  );
}

function OnOff({ enabled }: { enabled: boolean }) {
  return <StateMark tone={enabled ? 'good' : 'quiet'}>{enabled ? t.admin.on : t.admin.off}</StateMark>;
}

function NewFlag({ onClose }: { onClose: () => void }) {
  const task: FormTask = ({ key = '', description = '', enabled }) =>
    service.admin.flags.upsert({ key, ...(description ? { description } : {}), enabled: enabled !== undefined });
  return (
    <FormDialog title={t.admin.newFlag} action={t.common.save} task={task} changes={changes} onClose={onClose}>
      <TextInput label={t.documents.name} name="key" required />
      <TextInput label={t.webhooks.description} name="description" maxLength={200} />
      <Checkbox label={t.admin.on} name="enabled" />
    </FormDialog>
  );
}

function Override({ flagKey, onClose }: { flagKey: string; onClose: () => void }) {
  const task: FormTask = ({ organizationId = '', enabled }) =>
    service.admin.flags.setOverride({ key: flagKey, organizationId: organizationId.trim(), enabled: enabled === 'on' });
  const states = (['on', 'off'] as const).map((value) => ({ value, label: t.admin[value] }));
  return (
    <FormDialog title={t.admin.overrideTitle(flagKey)} action={t.common.save} task={task} changes={changes} onClose={onClose}>
      <TextInput label={t.admin.organizationId} description={t.admin.organizationIdHint} name="organizationId" required />
      <NativeSelect label={t.jobs.state} name="enabled" data={states} />
    </FormDialog>
  );
}
