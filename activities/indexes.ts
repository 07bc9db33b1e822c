import { Context } from '@temporalio/activity';
import { reconcileVectorIndexes } from '../domain/chunks/reconcile-vector-indexes.ts';
import type { ReconcileIndexesResult } from '../workflows/definitions.ts';
import type { ActivityDeps } from './deps.ts';

const heartbeatMs = 10_000;

export function indexActivities({ maintenanceDb }: ActivityDeps) {
  return {
    /** Makes and drops vector indexes; see {@link reconcileVectorIndexes}. Takes as long as a build does. */
    async reconcileIndexes(): Promise<ReconcileIndexesResult> {
      const context = Context.current();
      const heartbeat = setInterval(() => context.heartbeat(), heartbeatMs);
      try {
        return (await reconcileVectorIndexes(maintenanceDb)) ?? null;
      } finally {
        clearInterval(heartbeat);
      }
    },
  };
}
