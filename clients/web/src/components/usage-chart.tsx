import { Group, Table, Text } from '@mantine/core';
import type { Contract, OutputOf } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import type { CSSProperties } from 'react';
import { usageHistoryQuery } from '../queries.ts';
import { formatDay, formatNumber, t } from '../text.ts';
import { Empty } from './empty.tsx';
import { Loaded } from './loaded.tsx';
import { Rows } from './rows.tsx';
import { Subtitle } from './titles.tsx';

type History = OutputOf<Contract['organizations']['usageHistory']>;

const tones = ['blue-6', 'teal-6', 'orange-6', 'grape-6', 'yellow-7', 'gray-6'];

/** The credits of the last days, by kind. */
export function UsageChart({ organizationId }: { organizationId: string }) {
  const history = useQuery(usageHistoryQuery(organizationId));
  return (
    <>
      <Subtitle>{t.usage.byDay}</Subtitle>
      <Loaded query={history}>{(data) => (data.items.length === 0 ? <Empty text={t.usage.noneByDay} /> : <Days history={data} />)}</Loaded>
    </>
  );
}

function Days({ history: { from, to, heldCredits, items } }: { history: History }) {
  const kinds = [...new Set(items.map(({ group }) => group))].sort();
  const toneOf = (kind: string | null) =>
    ({ '--tone': `var(--mantine-color-${tones[kinds.indexOf(kind) % tones.length]})` }) as CSSProperties;
  const days = daysBetween(from, to).map((day) => ({ day, parts: items.filter((item) => item.day === day) }));
  const sumOf = (parts: History['items']) => parts.reduce((sum, part) => sum + usedOf(part), 0);
  const largest = Math.max(1, ...days.map(({ parts }) => sumOf(parts)));
  // Of a few days each has its number over it; of many the line at the top says how much the largest is.
  const isFew = days.filter(({ parts }) => parts.length > 0).length <= 7;
  return (
    <>
      <Text c="dimmed" mb="md">
        {t.usage.byDayHint(t.common.credits(heldCredits))}
      </Text>
      <div className="chart" role="img" aria-label={t.usage.chart(formatNumber(sumOf(items)))} data-most={formatNumber(largest)}>
        {days.map(({ day, parts }) => (
          <div
            key={day}
            style={{ height: `${(sumOf(parts) / largest) * 100}%` }}
            title={`${formatDay(day)}: ${formatNumber(sumOf(parts))}`}
          >
            {parts.map((part) => (
              <div key={part.group} style={{ ...toneOf(part.group), flexGrow: usedOf(part) }} />
            ))}
            {isFew && parts.length > 0 && <span>{formatNumber(sumOf(parts))}</span>}
          </div>
        ))}
      </div>
      <Group justify="space-between" fz="xs" c="dimmed" mt={4} aria-hidden>
        <span>{formatDay(from)}</span>
        <span>{formatDay(to)}</span>
      </Group>
      <div className="legend">
        {kinds.map((kind) => (
          <span key={kind} style={toneOf(kind)}>
            {nameOf(kind)}
          </span>
        ))}
      </div>
      <Numbers items={items} />
    </>
  );
}

function Numbers({ items }: { items: History['items'] }) {
  return (
    <details>
      <summary>{t.usage.numbers}</summary>
      <Rows heads={[t.usage.day, t.usage.kind, { number: t.usage.charged }, { number: t.usage.refunded }]}>
        {items.map(({ day, group, charged, refunded }) => (
          <Table.Tr key={`${day} ${group}`}>
            <Table.Td>{formatDay(day)}</Table.Td>
            <Table.Td>{nameOf(group)}</Table.Td>
            <Table.Td className="number">{formatNumber(charged)}</Table.Td>
            <Table.Td className="number">{formatNumber(refunded)}</Table.Td>
          </Table.Tr>
        ))}
      </Rows>
    </details>
  );
}

/** What was not given back on the same day. */
const usedOf = ({ charged, refunded }: History['items'][number]) => Math.max(0, charged - refunded);

function nameOf(kind: string | null): string {
  if (kind === 'documents.search') return t.usage.searches;
  if (kind === 'documents.ask') return t.usage.answers;
  return Object.entries(t.jobs.kinds).find(([name]) => name === kind)?.[1] ?? t.usage.otherKind;
}

/** `2026-11-29`, `2026-11-30`: the days from the first to the last. */
function daysBetween(from: string, to: string): string[] {
  const days: string[] = [];
  for (let ms = Date.parse(from); ms <= Date.parse(to); ms += 86_400_000) days.push(new Date(ms).toISOString().slice(0, 10));
  return days;
}
