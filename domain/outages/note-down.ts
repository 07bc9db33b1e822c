import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { interval } from './admit.ts';
import type { Down, OutageTimes } from './outage.ts';

/** A provider may ask for days; a probe an hour costs nothing. */
const longestAskedMs = 3_600_000;

/**
 * Notes that an attempt has found a part down: from now on no attempt that needs it begins. If the attempt was a probe of it, the next one
 * comes later than this one did; what began before the part was known to be down changes nothing more. Returns whether other attempts have
 * found the part there since it was down: then the reason may be this attempt's own document.
 */
export async function noteDown(
  db: Db,
  { part, cause, retryAfterMs = 0 }: Down,
  { isProbe, probeDelaysMs }: Pick<OutageTimes, 'probeDelaysMs'> & { isProbe: boolean },
): Promise<boolean> {
  const askedMs = Math.min(retryAfterMs, longestAskedMs);
  const last = probeDelaysMs.at(-1) ?? 0;
  const { rows } = await sql<{ isThereForOthers: boolean }>`
    with before as (select successes > 0 as "isThereForOthers" from provider_outage where part = ${part}),
    noted as (insert into provider_outage (part, cause, next_probe_at)
    values (${part}, ${cause}, clock_timestamp() + ${interval(Math.max(probeDelaysMs[0] ?? 0, askedMs))})
    on conflict (part) do update set cause = excluded.cause, successes = 0, admits = 0, probing_until = null,
      failed_probes = provider_outage.failed_probes + 1,
      next_probe_at = clock_timestamp() + make_interval(secs => greatest(
        coalesce((${probeDelaysMs}::float8[])[provider_outage.failed_probes + 2], ${last}), ${askedMs}) / 1000)
      where ${isProbe})
    select "isThereForOthers" from before
  `.execute(db);
  return rows[0]?.isThereForOthers ?? false;
}
