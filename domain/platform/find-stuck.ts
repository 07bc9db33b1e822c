import type { Db } from '../../db/connect.ts';
import { listStuck, type Stuck } from './backlog.ts';
import { listUnfinished, type Unfinished } from './list-unfinished.ts';

interface Options {
  jobTimeoutMs: number;
  limit: number;
  /** Of unfinished work, that whose workflow can make no progress; asks Temporal. */
  listWedged(work: Unfinished[]): Promise<(Unfinished & { reason: string })[]>;
}

/**
 * What is stuck by its rows or by its workflow, the oldest first, at most `limit`. What is stuck by both is there once, with the reason of
 * its workflow. If Temporal cannot be asked, `failure` is the error, and the rows tell what they show.
 */
export async function findStuck(db: Db, { jobTimeoutMs, limit, listWedged }: Options): Promise<{ stuck: Stuck[]; failure?: unknown }> {
  const unfinished = await listUnfinished(db, Math.ceil(limit / 4));
  const { wedged, ...failed } = await listWedged(unfinished).then(
    (wedged) => ({ wedged }),
    (failure: unknown) => ({ wedged: [], failure }),
  );
  const byRows = await listStuck(db, { jobTimeoutMs, limit });
  const ids = new Set(wedged.map(({ id }) => id));
  const stuck: Stuck[] = [...wedged, ...byRows.filter(({ id }) => !ids.has(id))];
  return { stuck: stuck.sort((a, b) => b.ageSeconds - a.ageSeconds).slice(0, limit), ...failed };
}
