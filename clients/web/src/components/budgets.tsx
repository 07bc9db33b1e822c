import { Text, TextInput } from '@mantine/core';
import type { Workspace } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import { service } from '../service.ts';
import { t } from '../text.ts';
import { costsQuery } from './costs.tsx';
import { FormDialog } from './form-dialog.tsx';
import type { FormTask } from './use-form-task.ts';

/** What a workspace may use in a month: credits, and money where the deployment has prices. */
export function Budgets({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const { id, organizationId, name, creditBudget, costBudgetMicros } = workspace;
  const { data } = useQuery(costsQuery(organizationId));
  const task: FormTask = ({ credits, money }) =>
    service.workspaces.update({
      id,
      creditBudget: credits ? Number(credits) : null,
      ...(money !== undefined && { costBudgetMicros: money ? Math.round(Number(money) * 1_000_000) : null }),
    });
  return (
    <FormDialog title={t.budgets.title(name)} action={t.common.save} task={task} changes={['workspaces']} onClose={onClose}>
      <Text>{t.budgets.hint}</Text>
      <TextInput type="number" min={0} name="credits" label={t.budgets.credits} defaultValue={creditBudget ?? ''} />
      {data?.currency && (
        <TextInput
          {...{ type: 'number', min: 0, step: 'any', name: 'money' }}
          label={t.budgets.money(data.currency)}
          defaultValue={costBudgetMicros === null ? '' : costBudgetMicros / 1_000_000}
        />
      )}
    </FormDialog>
  );
}
