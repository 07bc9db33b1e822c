import { ApiError } from '../../contract/api-error.ts';
import type { Transaction } from '../../db/connect.ts';
import type { Actor } from '../audit.ts';
import { type GetPlan, withoutPrices } from '../billing/plan.ts';
import { lockOrganization, lockWorkspacesAndDocuments } from '../locks.ts';
import { findOrCreateJob } from './create-job.ts';
import type { JobRow } from './job.ts';
import type { CreateJobInput, JobScope } from './job-scope.ts';

/** A job to be created, with its scope. */
interface PlacedJob {
  scope: JobScope;
  input: CreateJobInput;
}

/**
 * Charges and queues jobs of one organization, all or none, each as {@link findOrCreateJob} does. Their workspaces and documents are
 * locked before, in the order of all locks. Throws the error of the first job that is refused, with its index ({@link forEachJob}).
 */
export async function createJobs(
  trx: Transaction,
  getPlan: GetPlan,
  actor: Actor,
  { organizationId, jobs }: { organizationId: string; jobs: PlacedJob[] },
): Promise<JobRow[]> {
  await lockOrganization(trx, organizationId);
  await lockWorkspacesAndDocuments(trx, {
    workspaceIds: jobs.flatMap(({ scope }) => scope.workspaceId ?? []),
    documentIds: jobs.flatMap(({ scope }) => scope.documentId ?? []),
  });
  const priced = new Set<string | null>();
  return await forEachJob(jobs, async ({ scope, input }) => {
    // Adding up what a workspace's calls have cost takes long, and no job of this request adds to it yet.
    const terms = priced.has(scope.workspaceId) ? withoutPrices(getPlan) : getPlan;
    const { job, isNew } = await findOrCreateJob(trx, terms, actor, scope, input);
    if (isNew) priced.add(scope.workspaceId);
    return job;
  });
}

/** Runs a step for each of the jobs of a request, in their order. The error of one says which: `jobs[3]: Document not found.` */
export async function forEachJob<J, T>(jobs: J[], step: (job: J) => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  for (const [index, job] of jobs.entries()) {
    done.push(
      await step(job).catch((error: unknown) => {
        throw error instanceof ApiError ? error.withMessage(`jobs[${index}]: ${error.message}`) : error;
      }),
    );
  }
  return done;
}
