/** The alerts of deploy/monitoring/alerts.yml. */
export type AlertName =
  | 'SheafProcessDown'
  | 'SheafRequestsFail'
  | 'SheafOperationFails'
  | 'SheafRequestsSlow'
  | 'SheafQueueOld'
  | 'SheafJobsFail'
  | 'SheafOutboxLate'
  | 'SheafDatabaseAway'
  | 'SheafPoolExhausted'
  | 'SheafAiFails'
  | 'SheafAiReadersBusy'
  | 'SheafObjectsRefused'
  | 'SheafMailsLate'
  | 'SheafSweepLate'
  | 'SheafHousekeepingLate'
  | 'SheafIndexesLate'
  | 'SheafBillingLate'
  | 'SheafEventsSkipped';

interface Expected {
  /** They are the fault's own, and have to fire. */
  must: AlertName[];
  /** They fire or not, by how long the machine needs to bring a process back, and what the tenants asked for meanwhile. */
  may: AlertName[];
}

/** A process that is started again is away for a few seconds, in which requests fail. */
const restarts: AlertName[] = ['SheafProcessDown', 'SheafRequestsFail', 'SheafOperationFails', 'SheafRequestsSlow'];
/** While the database is away, whatever needs it waits. */
const waits: AlertName[] = [
  'SheafRequestsFail',
  'SheafOperationFails',
  'SheafRequestsSlow',
  'SheafPoolExhausted',
  'SheafOutboxLate',
  'SheafQueueOld',
];

/** The alerts of each fault. */
export const expectedAlerts: Record<string, Expected> = {
  'worker-killed': { must: [], may: ['SheafProcessDown', 'SheafOutboxLate', 'SheafQueueOld'] },
  'worker-frozen': { must: ['SheafProcessDown'], may: ['SheafQueueOld', 'SheafJobsFail'] },
  'api-killed': { must: [], may: [...restarts, 'SheafOutboxLate'] },
  'ai-killed': { must: ['SheafProcessDown'], may: ['SheafAiFails', 'SheafJobsFail', 'SheafOutboxLate', 'SheafQueueOld'] },
  'postgres-crashed': { must: [], may: ['SheafDatabaseAway', ...waits] },
  'temporal-away': { must: ['SheafOutboxLate'], may: ['SheafQueueOld', 'SheafJobsFail'] },
  'ai-slow': { must: [], may: ['SheafQueueOld', 'SheafJobsFail'] },
  // Whatever fails is soon tried again: Temporal has several times the work, and takes intents late.
  'ai-500': { must: ['SheafAiFails'], may: ['SheafJobsFail', 'SheafOutboxLate', 'SheafQueueOld'] },
  'ai-413': { must: ['SheafJobsFail'], may: ['SheafQueueOld'] },
  'ai-unusable': { must: ['SheafAiFails'], may: ['SheafJobsFail', 'SheafQueueOld'] },
  'postgres-silent': { must: ['SheafDatabaseAway'], may: waits },
  'temporal-silent': { must: ['SheafOutboxLate'], may: ['SheafQueueOld', 'SheafJobsFail', 'SheafSweepLate'] },
  'ai-silent': { must: [], may: ['SheafAiFails', 'SheafJobsFail', 'SheafQueueOld'] },
  'bucket-silent': {
    must: [],
    may: ['SheafRequestsFail', 'SheafOperationFails', 'SheafRequestsSlow', 'SheafJobsFail', 'SheafObjectsRefused', 'SheafQueueOld'],
  },
  'store-refuses': { must: ['SheafObjectsRefused'], may: [] },
  'disk-full': { must: [], may: restarts },
  'worker-out-of-memory': { must: [], may: ['SheafProcessDown', 'SheafOutboxLate', 'SheafQueueOld', 'SheafJobsFail'] },
  'temporal-lost': { must: [], may: ['SheafProcessDown', 'SheafOutboxLate', 'SheafQueueOld'] },
  'clock-skew': { must: [], may: ['SheafQueueOld', 'SheafRequestsSlow'] },
  'two-versions': { must: [], may: ['SheafQueueOld', 'SheafRequestsSlow'] },
  'loud-tenant': { must: [], may: ['SheafQueueOld', 'SheafRequestsSlow', 'SheafPoolExhausted'] },
  'hostile-files': { must: [], may: ['SheafAiFails', 'SheafAiReadersBusy', 'SheafJobsFail', 'SheafQueueOld'] },
  retention: { must: [], may: [] },
  webhooks: { must: [], may: ['SheafProcessDown', 'SheafOutboxLate'] },
};

/** What fired during a fault, beside what should. */
export function compareAlerts(fault: string, fired: AlertName[]): { fired: AlertName[]; missing: AlertName[]; unexpected: AlertName[] } {
  const { must, may } = expectedAlerts[fault] ?? { must: [], may: [] };
  return {
    fired,
    missing: must.filter((name) => !fired.includes(name)),
    unexpected: fired.filter((name) => !must.includes(name) && !may.includes(name)),
  };
}
