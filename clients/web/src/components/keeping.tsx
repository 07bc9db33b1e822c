import { Text, TextInput } from '@mantine/core';
import type { Contract, OutputOf, Workspace } from '@sheaf/client';
import { useState } from 'react';
import { queryClient } from '../queries.ts';
import { service } from '../service.ts';
import { t } from '../text.ts';
import { FormDialog } from './form-dialog.tsx';
import type { FormTask } from './use-form-task.ts';

type Due = OutputOf<Contract['workspaces']['due']>;

const kinds = ['documents', 'texts', 'jobs'] as const;

/** For how many days a workspace keeps what. Says what that would delete before it is stored. */
export function Retention({ workspace: { id, name, retention }, onClose }: { workspace: Workspace; onClose: () => void }) {
  const [due, setDue] = useState<Due>();
  const task: FormTask = async (fields) => {
    const days = Object.fromEntries(kinds.map((kind) => [kind, fields[kind] ? Number(fields[kind]) : null]));
    const given = Object.fromEntries(Object.entries(days).filter(([, value]) => value !== null));
    const found = due ?? (await service.workspaces.due({ id, ...given }));
    if (!due && kinds.some((kind) => days[kind] !== null && found[kind].count > 0)) return setDue(found);
    await service.workspaces.update({ id, retention: days });
    await queryClient.invalidateQueries({ queryKey: ['workspaces'] });
    onClose();
  };
  return (
    <FormDialog title={t.keeping.title(name)} action={due ? t.keeping.confirm : t.common.save} task={task} onClose={onClose}>
      <Text>{t.keeping.hint}</Text>
      {kinds.map((kind) => (
        <TextInput
          key={kind}
          type="number"
          min={1}
          max={36_500}
          name={kind}
          label={t.keeping.kinds[kind]}
          defaultValue={retention[kind] ?? ''}
          onChange={() => setDue(undefined)}
        />
      ))}
      {due && (
        <Text role="status">
          {due.hold ? t.keeping.held(due.hold.reason) : t.keeping.due(due.documents.count, due.texts.count, due.jobs.count)}
        </Text>
      )}
    </FormDialog>
  );
}

/** Keeps a workspace, or without one all of the organization, from deletion. */
export function SetHold({
  organizationId,
  workspace,
  onClose,
}: {
  organizationId: string;
  workspace?: Workspace | undefined;
  onClose: () => void;
}) {
  const task: FormTask = ({ reason = '' }) =>
    service.organizations.setHold({ organizationId, workspaceId: workspace?.id, reason: reason.trim() });
  return (
    <FormDialog
      title={workspace ? t.keeping.holdTitle(workspace.name) : t.keeping.holdAll}
      action={t.keeping.hold}
      task={task}
      changes={['holds']}
      onClose={onClose}
    >
      <Text>{t.keeping.holdHint}</Text>
      <TextInput label={t.keeping.reason} name="reason" maxLength={300} required />
    </FormDialog>
  );
}
