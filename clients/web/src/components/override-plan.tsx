import { NativeSelect, Text, TextInput } from '@mantine/core';
import type { ListedOrganization } from '../admin-queries.ts';
import { service } from '../service.ts';
import { t } from '../text.ts';
import { FormDialog } from './form-dialog.tsx';
import type { FormTask } from './use-form-task.ts';

/** Bytes of what the form calls a gigabyte. */
const gigabyte = 1_000_000_000;
const limits = ['aiCredits', 'members', 'workspaces', 'storage'] as const;

/** Gives an organization a plan, or single limits, until a day. */
export function OverridePlan({ organization, onClose }: { organization: ListedOrganization; onClose: () => void }) {
  const { id: organizationId, name } = organization;
  const task: FormTask = ({ plan = '', until = '', reason = '', ...given }) => {
    const numbers = limits.flatMap((limit) => (given[limit] ? [[limit, Number(given[limit])] as const] : []));
    const { storage, ...others } = Object.fromEntries(numbers) as Partial<Record<(typeof limits)[number], number>>;
    return service.admin.organizations.overridePlan({
      organizationId,
      plan: plan === '' ? undefined : (plan as 'free' | 'pro' | 'team'),
      limits: { ...others, ...(storage !== undefined && { storageBytes: Math.round(storage * gigabyte) }) },
      until: new Date(until).toISOString(),
      reason: reason.trim(),
    });
  };
  const plans = Object.entries(t.plan.names).map(([value, label]) => ({ value, label }));
  return (
    <FormDialog title={t.byHand.title(name)} action={t.byHand.give} task={task} changes={['admin', 'organizations']} onClose={onClose}>
      <Text>{t.byHand.hint}</Text>
      <NativeSelect label={t.nav.pages.plan} name="plan" data={[{ value: '', label: t.byHand.paid }, ...plans]} />
      {limits.map((limit) => (
        <TextInput key={limit} type="number" min={0} step={limit === 'storage' ? 'any' : 1} name={limit} label={t.byHand.limits[limit]} />
      ))}
      <TextInput type="date" name="until" label={t.byHand.until} required />
      <TextInput label={t.keeping.reason} name="reason" maxLength={300} required />
    </FormDialog>
  );
}
