import { Context } from '@temporalio/activity';
import { quantizeDocuments } from '../domain/chunks/quantize-documents.ts';
import { reconcileVectorIndexes } from '../domain/chunks/reconcile-vector-indexes.ts';
import type { ReconcileIndexesResult } from '../workflows/definitions.ts';
import type { ActivityDeps } from './deps.ts';

const heartbeatMs = 10_000;

export function indexActivities({ maintenanceDb }: ActivityDeps) {
  return {
    /** Quantizes vectors that are not, and makes and drops vector indexes; see {@link reconcileVectorIndexes}. Takes as long as a build does. */
    async reconcileIndexes(): Promise<ReconcileIndexesResult> {
      const context = Context.current();
      const heartbeat = setInterval(() => context.heartbeat(), heartbeatMs);
      try {
        const quantized = await quantizeDocuments(maintenanceDb);
        const indexes = await reconcileVectorIndexes(maintenanceDb);
        return indexes ? { ...indexes, quantized } : null;
      } finally {
        clearInterval(heartbeat);
      }
    },
  };
}
