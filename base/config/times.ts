/**
 * The times that no deployment changes, in milliseconds, where programs take them as part of their configuration. Tests change them before
 * a program starts (`test/support/times.ts`).
 */
export const times = {
  /** The waits between the attempts of a job. A provider's `Retry-After` can lengthen one, up to the longest of them. */
  jobRetryDelays: [10_000, 30_000, 90_000],
  /** The waits between the probes of what is down; the last one repeats. A provider's `Retry-After` can lengthen one, up to an hour. */
  outageProbes: [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000],
  /** The time between two jobs that look again whether what they wait for is there: so many wait that all at once would be a burst. */
  outageSlot: 1_000,
  /** The duration of a webhook request. An attempt that takes a minute is presumed lost. */
  webhookRequest: 15_000,
  /** The waits of Standard Webhooks after each attempt but the last: ten attempts in three days. */
  webhookRetryDelays: [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000],
  /** The period over which the least rate of a body is counted, except that of an upload. */
  bodyWindow: 30_000,
  /** How long the request that deletes an organization waits for the end of the deletion. */
  deletionWait: 60_000,
  /** How long the API waits at its start for a database that is away. */
  databaseWait: 600_000,
  /** How often the caller of an open job stream is authorized again. */
  streamRecheck: 30_000,
  streamLifetime: 900_000,
  /** The wait between two exports of spans. */
  spanExport: 5_000,
};
