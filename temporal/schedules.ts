import { type Client, ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import { mainTaskQueue } from '../workflows/definitions.ts';

/** A run that is late or still under way is skipped: the next one does its work. */
const policies = { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' } as const;

const schedules: ScheduleOptions[] = [
  {
    scheduleId: 'sweep-jobs',
    spec: { intervals: [{ every: '1 minute' }] },
    policies,
    action: { type: 'startWorkflow', workflowType: 'sweepJobs', workflowId: 'sweep-jobs', taskQueue: mainTaskQueue },
  },
  {
    scheduleId: 'housekeeping',
    spec: { calendars: [{ hour: 3, minute: 17 }] },
    policies: { ...policies, catchupWindow: '12 hours' },
    action: { type: 'startWorkflow', workflowType: 'housekeeping', workflowId: 'housekeeping', taskQueue: mainTaskQueue },
  },
  {
    scheduleId: 'reconcile-billing',
    spec: { calendars: [{ hour: 4, minute: 17 }] },
    policies: { ...policies, catchupWindow: '12 hours' },
    action: { type: 'startWorkflow', workflowType: 'reconcileBilling', workflowId: 'reconcile-billing', taskQueue: mainTaskQueue },
  },
  {
    scheduleId: 'reconcile-indexes',
    spec: { intervals: [{ every: '1 hour' }] },
    policies,
    action: { type: 'startWorkflow', workflowType: 'reconcileIndexes', workflowId: 'reconcile-indexes', taskQueue: mainTaskQueue },
    state: { triggerImmediately: true },
  },
];

/** Creates the schedules, or updates them to what this version ships; safe to call at every start. */
export async function ensureSchedules(client: Client): Promise<void> {
  for (const schedule of schedules) {
    try {
      await client.schedule.create(schedule);
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      const { scheduleId: _, state: __, ...shipped } = schedule;
      await client.schedule.getHandle(schedule.scheduleId).update((previous) => ({ ...shipped, state: previous.state }) as never);
    }
  }
}
