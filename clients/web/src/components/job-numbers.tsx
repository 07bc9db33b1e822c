import { Table } from '@mantine/core';
import type { ListedJob } from '../jobs.ts';
import { formatNumber, formatSeconds, t } from '../text.ts';

/** The heads of the two cells below. */
export const jobNumberHeads = [{ number: t.jobs.duration }, { number: t.jobs.credits }];

/** How long after its creation a job was done, and what it cost: two cells of a row. */
export function JobNumbers({ job: { status, credits, createdAt, finishedAt } }: { job: ListedJob }) {
  const isGivenBack = status === 'failed' || status === 'canceled';
  return (
    <>
      <Table.Td className="number" data-label={t.jobs.duration}>
        {finishedAt && formatSeconds(Date.parse(finishedAt) - Date.parse(createdAt))}
      </Table.Td>
      <Table.Td className="number" data-label={t.jobs.credits}>
        {formatNumber(isGivenBack ? 0 : credits)}
      </Table.Td>
    </>
  );
}
