import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ taskQueue: 'bare-activities', startToCloseTimeout: '1 minute' });
const ended = defineSignal('ended');

/** The minimal durable work: one activity on another task queue. */
export async function bare(): Promise<void> {
  await nothing();
}

/** The minimal durable wait: ends at a signal, or after a day. */
export async function bareWait(): Promise<void> {
  let isOver = false;
  setHandler(ended, () => {
    isOver = true;
  });
  await condition(() => isOver, '1 day');
}
