import { Table } from '@mantine/core';
import { createStore } from '../store.ts';
import { formatExact, formatRelative, t } from '../text.ts';

/** The times of a page go on together: rows that are sorted by time would seem in disorder otherwise. */
const clock = createStore(Date.now());
setInterval(() => clock.set(Date.now()), 5_000);

/** How long ago, as time goes on, with the exact time on hover. */
export function Time({ at: given }: { at: string | Date }) {
  // better-auth's client makes dates of what it gets.
  const at = typeof given === 'string' ? given : given.toISOString();
  return (
    <time dateTime={at} title={formatExact(at)}>
      {formatRelative(at, clock.use())}
    </time>
  );
}

/** When something is tried again. */
export function NextAttempt({ at }: { at: string }) {
  return (
    <>
      {t.jobs.next} <Time at={at} />
    </>
  );
}

/** A cell with a time, and what it is where the table has become cards. */
export function TimeCell({ at, label }: { at: string | Date; label?: string }) {
  return (
    <Table.Td data-label={label}>
      <Time at={at} />
    </Table.Td>
  );
}
