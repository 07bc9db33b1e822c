import { proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ taskQueue: 'bare-activities', startToCloseTimeout: '1 minute' });

/** The minimal durable work: one activity on another task queue. */
export async function bare(): Promise<void> {
  await nothing();
}
