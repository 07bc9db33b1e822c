import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/** What decides by the job's row, which lets no attempt begin while the deployment is read-only. */
const byRow = new Set(['runJobAttempt', 'readJobState', 'settleAttempt']);

/** Lets no activity begin while the deployment is read-only: Temporal tries it again. */
export function postponeWhile(findReadOnly: () => Promise<string | null>): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        if (!byRow.has(info.activityType) && (await findReadOnly()) !== null)
          throw ApplicationFailure.create({ message: 'The deployment is read-only.', nextRetryDelay: '30 seconds', category: 'BENIGN' });
        return await next(input);
      },
    },
  });
}
