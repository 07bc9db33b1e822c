import { Group, NativeSelect, Table, Text, Title } from '@mantine/core';
import type { Contract, OutputOf } from '@sheaf/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { documentQuery } from '../document-queries.ts';
import { language } from '../language.ts';
import { apiKeysQuery, type Place, queryClient, slugsOf, workspacesQuery } from '../queries.ts';
import { saveCsv } from '../save-csv.ts';
import { service } from '../service.ts';
import { formatDay, formatNumber, t } from '../text.ts';
import { Failure } from './failure.tsx';
import { LinkTo } from './link-to.tsx';
import { Rows } from './rows.tsx';
import { TaskButton } from './task-button.tsx';

type DayOfCosts = OutputOf<Contract['organizations']['costs']>['items'][number];

const groupings = ['model', 'workspace', 'key', 'document', 'job', 'day'] as const;
type Grouping = (typeof groupings)[number];

/** What providers did on each of the last days, told apart by models, or by something else. */
export const costsQuery = (organizationId: string, by: Grouping = 'model') =>
  queryOptions({
    queryKey: ['usage', organizationId, 'costs', by],
    queryFn: async ({ signal }) => {
      const asked = { organizationId, by: by === 'day' ? 'organization' : by } as const;
      let page = await service.organizations.costs(asked, { signal });
      const { items, to, currency } = page;
      while (page.nextCursor) {
        // The days stay the same if one ends meanwhile.
        page = await service.organizations.costs({ ...asked, to, cursor: page.nextCursor }, { signal });
        items.push(...page.items);
      }
      return { by, items, currency };
    },
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

/** As many as there are days; the file has all. */
const shownGroups = 31;

/** What the providers of models did in the last days, and what it cost. Nothing where no provider did anything. */
export function Costs({ place }: { place: Place }) {
  const [by, setBy] = useState<Grouping>('model');
  const { data, error, refetch } = useQuery({ ...costsQuery(place.organization.id, by), placeholderData: (before) => before });
  if (error) return <Failure error={error} title={t.usage.costs} retry={() => void refetch()} />;
  if (!data || data.items.length === 0) return null;
  const { by: shown, items, currency } = data;
  const groups = sumsOf(items, shown);
  const download = async () =>
    saveCsv(`costs-${by}.csv`, columns, (await queryClient.fetchQuery(costsQuery(place.organization.id, by))).items);
  const costOf = (micros: number | null) => (micros === null || !currency ? t.usage.unknownCost : formatMicros(micros, currency));
  return (
    <>
      <Group justify="space-between" align="flex-end" mt="xl" mb="xs">
        <Title order={2} size="h4">
          {t.usage.costs}
        </Title>
        <Group align="flex-end">
          <NativeSelect
            size="xs"
            label={t.usage.costsBy}
            data={groupings.map((value) => ({ value, label: t.usage.groupings[value] }))}
            value={by}
            onChange={({ currentTarget: { value } }) => setBy(value as Grouping)}
          />
          <TaskButton task={download}>{t.audit.download}</TaskButton>
        </Group>
      </Group>
      <Text c="dimmed" mb="xs">
        {t.usage.costsHint} {groups.length > shownGroups && t.usage.moreCosts(formatNumber(shownGroups), formatNumber(groups.length))}
      </Text>
      <Rows
        heads={[
          t.usage.groupings[shown],
          ...[t.usage.calls, t.usage.unknownCalls, t.usage.tokens, t.usage.cost].map((number) => ({ number })),
        ]}
      >
        {groups.slice(0, shownGroups).map(({ group, calls, unknown, tokens, cost }) => (
          <Table.Tr key={group}>
            <Table.Td>
              <Named {...{ by: shown, group, place }} />
            </Table.Td>
            <Table.Td className="number">{formatNumber(calls)}</Table.Td>
            <Table.Td className="number">{formatNumber(unknown)}</Table.Td>
            <Table.Td className="number">{formatNumber(tokens)}</Table.Td>
            <Table.Td className="number">{costOf(cost)}</Table.Td>
          </Table.Tr>
        ))}
      </Rows>
    </>
  );
}

/** The sums of the groups, the costliest first; of days the newest. */
function sumsOf(items: DayOfCosts[], by: Grouping) {
  const groups = [...Map.groupBy(items, ({ day, group }) => (by === 'day' ? day : group))].map(([group, days]) => {
    const sum = (read: (day: DayOfCosts) => number) => days.reduce((total, day) => total + read(day), 0);
    return {
      group,
      calls: sum(({ calls }) => calls),
      unknown: sum(({ unreportedCalls, unpricedCalls }) => unreportedCalls + unpricedCalls),
      tokens: sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens),
      cost: days.some(({ knownCostMicros }) => knownCostMicros !== null) ? sum(({ knownCostMicros }) => knownCostMicros ?? 0) : null,
    };
  });
  if (by === 'day') return groups;
  return groups.sort((one, other) => (other.cost ?? 0) - (one.cost ?? 0) || other.tokens - one.tokens);
}

/** The name of what the costs are of, or its id if it is gone. */
function Named({ by, group, place }: { by: Grouping; group: string | null; place: Place }) {
  const { data: workspaces } = useQuery({ ...workspacesQuery(place.organization.id), enabled: by === 'workspace' });
  const { data: keys } = useQuery({ ...apiKeysQuery(place.organization.id), enabled: by === 'key' });
  const { data: document } = useQuery({ ...documentQuery(group ?? ''), enabled: by === 'document' && group !== null });
  if (by === 'day') return formatDay(group ?? '');
  if (group === null) return t.usage.noGroup[by];
  const params = { ...slugsOf(place), id: group };
  if (by === 'job') return <LinkTo {...{ to: '/o/$organization/$workspace/jobs/$id', params }}>{group}</LinkTo>;
  if (document) return <LinkTo {...{ to: '/o/$organization/$workspace/documents/$id', params }}>{document.name}</LinkTo>;
  return [...(workspaces ?? []), ...(keys ?? [])].find(({ id }) => id === group)?.name ?? group;
}

/** An amount in millionths of a currency, such as `USD`. */
function formatMicros(micros: number, currency: string): string {
  return new Intl.NumberFormat(language, { style: 'currency', currency, maximumFractionDigits: 4 }).format(micros / 1_000_000);
}
