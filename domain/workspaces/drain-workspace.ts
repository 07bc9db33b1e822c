import { signalUploadEnded } from '../../contract/intents/definitions.ts';
import type { Db } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { drainDocuments } from '../documents/drain-documents.ts';
import { inSlices } from '../drain.ts';
import { releaseWorkspaceJobs } from '../jobs/release-workspace-jobs.ts';
import { addObjectsToDelete, hasObjectsToDelete, requestObjectDeletion } from '../stored-objects/request-object-deletion.ts';

const jobsPerSlice = 200;

export interface DrainedWorkspace {
  jobs: number;
  documents: number;
}

/**
 * Drains the contents of a deleted workspace: releases its jobs, deletes its documents, requests the deletion of their objects, and lastly
 * removes the request. The counts begin at `before`. An interrupted drain is continued by another call; two at once do no harm.
 */
export async function drainWorkspace(
  db: Db,
  { workspaceId, organizationId }: { workspaceId: string; organizationId: string },
  { before, onProgress, signal }: { before: DrainedWorkspace; onProgress: (counts: DrainedWorkspace) => void; signal: AbortSignal },
): Promise<DrainedWorkspace> {
  const counts = { ...before };
  await inSlices(async (after) => {
    const { released, last } = await inTransaction(db, (trx) => releaseWorkspaceJobs(trx, workspaceId, { after, limit: jobsPerSlice }));
    counts.jobs += released;
    onProgress(counts);
    return last;
  }, signal);
  await drainDocuments(db, workspaceId, {
    async onDeleted(trx, documents) {
      const keys = documents.map(({ object_key }) => object_key);
      // Asks only once: a signal for each slice would fill the history of the workflow that deletes objects, which checks again until none
      // is left.
      if (counts.documents === 0) await requestObjectDeletion(trx, organizationId, keys);
      else await addObjectsToDelete(trx, organizationId, keys);
      for (const { id, status } of documents)
        if (status === 'pending') addToOutbox(trx, signalUploadEnded({ documentId: id, organizationId, workspaceId }));
    },
    onProgress(documents) {
      counts.documents += documents;
      onProgress(counts);
    },
    signal,
  });
  await inTransaction(db, async (trx) => {
    await trx.deleteFrom('workspace_deletion').where('workspace_id', '=', workspaceId).execute();
    if (await hasObjectsToDelete(trx, organizationId)) await requestObjectDeletion(trx, organizationId, []);
  });
  return counts;
}
