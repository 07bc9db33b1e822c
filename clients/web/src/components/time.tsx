import { Table } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { formatExact, formatRelative } from '../text.ts';

function everyTenSeconds(look: () => void) {
  const timer = setInterval(look, 10_000);
  return () => clearInterval(timer);
}

/** How long ago, as time goes on, with the exact time on hover. */
export function Time({ at: given }: { at: string | Date }) {
  // better-auth's client makes dates of what it gets.
  const at = typeof given === 'string' ? given : given.toISOString();
  const relative = useSyncExternalStore(everyTenSeconds, () => formatRelative(at));
  return (
    <time dateTime={at} title={formatExact(at)}>
      {relative}
    </time>
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
