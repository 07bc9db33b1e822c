import { Group, Table, Text, Title } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { language } from '../language.ts';
import { saveCsv } from '../save-csv.ts';
import { service } from '../service.ts';
import { formatNumber, t } from '../text.ts';
import { Rows } from './rows.tsx';
import { TaskButton } from './task-button.tsx';

/** What providers did in the last days, by model. */
export const costsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['usage', organizationId, 'costs'],
    queryFn: ({ signal }) => service.organizations.costs({ organizationId, by: 'model' }, { signal }),
  });

const columns = [
  'day',
  'group',
  'calls',
  'unreportedCalls',
  'unpricedCalls',
  'inputTokens',
  'cachedInputTokens',
  'outputTokens',
  'knownCostMicros',
] as const;

/** What the providers of models did in the last days, and what it cost, by model. Nothing where no provider did anything. */
export function Costs({ organizationId }: { organizationId: string }) {
  const { data } = useQuery(costsQuery(organizationId));
  if (!data || data.items.length === 0) return null;
  const download = async () => saveCsv('costs.csv', columns, await readByDocument(organizationId));
  const models = [...new Set(data.items.map(({ group }) => group))].map((model) => {
    const days = data.items.filter(({ group }) => group === model);
    const sum = (field: 'calls' | 'unreportedCalls' | 'unpricedCalls' | 'inputTokens' | 'outputTokens') =>
      days.reduce((total, day) => total + day[field], 0);
    const known = days.flatMap(({ knownCostMicros }) => knownCostMicros ?? []);
    const cost = known.length > 0 && data.currency ? known.reduce((total, micros) => total + micros, 0) : null;
    const unknown = sum('unreportedCalls') + sum('unpricedCalls');
    return { model, calls: sum('calls'), tokens: sum('inputTokens') + sum('outputTokens'), unknown, cost };
  });
  return (
    <>
      <Group justify="space-between" mt="xl" mb="xs">
        <Title order={2} size="h4">
          {t.usage.costs}
        </Title>
        <TaskButton task={download}>{t.audit.download}</TaskButton>
      </Group>
      <Text c="dimmed" mb="xs">
        {t.usage.costsHint}
      </Text>
      <Rows heads={[t.usage.model, ...[t.usage.calls, t.usage.unknownCalls, t.usage.tokens, t.usage.cost].map((number) => ({ number }))]}>
        {models.map(({ model, calls, unknown, tokens, cost }) => (
          <Table.Tr key={model}>
            <Table.Td>{model ?? t.usage.unknownModel}</Table.Td>
            <Table.Td className="number">{formatNumber(calls)}</Table.Td>
            <Table.Td className="number">{formatNumber(unknown)}</Table.Td>
            <Table.Td className="number">{formatNumber(tokens)}</Table.Td>
            <Table.Td className="number">{cost === null ? t.usage.unknownCost : formatMicros(cost, data.currency ?? '')}</Table.Td>
          </Table.Tr>
        ))}
      </Rows>
    </>
  );
}

/** What each document cost on each day. */
async function readByDocument(organizationId: string) {
  const asked = { organizationId, by: 'document' } as const;
  let page = await service.organizations.costs(asked);
  const { items: rows, to } = page;
  while (page.nextCursor) {
    // The days stay the same if one ends meanwhile.
    page = await service.organizations.costs({ ...asked, to, cursor: page.nextCursor });
    rows.push(...page.items);
  }
  return rows;
}

/** An amount in millionths of a currency, such as `USD`. */
function formatMicros(micros: number, currency: string): string {
  return new Intl.NumberFormat(language, { style: 'currency', currency, maximumFractionDigits: 4 }).format(micros / 1_000_000);
}
