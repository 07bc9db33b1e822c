import { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';
import { inTransaction } from '../../db/transaction.ts';
import { getDocument } from '../../domain/documents/document.ts';
import { cancelJob } from '../../domain/jobs/cancel-job.ts';
import { createJob, inputOf } from '../../domain/jobs/create-job.ts';
import { createJobs, forEachJob } from '../../domain/jobs/create-jobs.ts';
import { getJob, readWhole, shownAs } from '../../domain/jobs/job.ts';
import { type CreateJobInput, findJobScope } from '../../domain/jobs/job-scope.ts';
import { hasJobsOfFormerWorkspace } from '../../domain/jobs/list-changed-jobs.ts';
import { listJobs } from '../../domain/jobs/list-jobs.ts';
import { retryJob } from '../../domain/jobs/retry-job.ts';
import { getWorkspace } from '../../domain/workspaces/workspace.ts';
import { type Authorize, type Caller, holdsPermission, workspaceOf } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { checkKind, refuseMissing } from '../extra-kinds.ts';
import { withIdempotency } from '../idempotency.ts';
import { toJob, toJobListItem } from '../presenters/job.ts';
import { procedure } from '../procedure.ts';

export function jobProcedures(deps: ApiDeps) {
  const { db, getPlan, cursors } = deps;
  return {
    list: procedure(contract.jobs.list, async ({ input, authorize }) => {
      await authorize(input.organizationId, input.workspaceId);
      await checkFilters(input, authorize);
      const page = await listJobs(db, cursors, input);
      return { items: page.items.map((job) => toJobListItem(job, input.includeResult)), nextCursor: page.nextCursor };
    }),

    get: procedure(contract.jobs.get, async ({ input, authorize }) => {
      const job = await getJob(db, input.id);
      await authorize(job.organization_id, job.workspace_id);
      return toJob(await readWhole(db, job));
    }),

    create: procedure(contract.jobs.create, async (context) => {
      const { input, caller, actor, authorize } = context;
      const job = await withIdempotency<RecordedJob>(db, contract.jobs.create, context, async (once) => {
        const scope = await findJobScope(db, input);
        await authorize(scope.organizationId, scope.workspaceId);
        await checkKind(deps, input.kind);
        return once(async (trx) => withoutLongInput(toJob(await createJob(trx, getPlan, actor, scope, input))));
      });
      return shownTo(caller, { input: inputOf(input), ...job } as ShownJob);
    }),

    createMany: procedure(contract.jobs.createMany, async (context) => {
      const { input, caller, actor, authorize } = context;
      const { organizationId } = input;
      const { items } = await withIdempotency<RecordedJobs>(db, contract.jobs.createMany, context, async (once) => {
        // Before any row is read. A key of one workspace is authorized for each job below.
        await authorize(organizationId, workspaceOf(caller));
        for (const kind of new Set(input.jobs.map((job) => job.kind))) {
          await checkKind(deps, kind, ['jobs', input.jobs.findIndex((job) => job.kind === kind), 'kind']);
        }
        const jobs = await forEachJob(input.jobs, async (job) => {
          const scope = await findJobScope(db, job);
          if (scope.organizationId !== organizationId) throw new ApiError('FORBIDDEN');
          await authorize(organizationId, scope.workspaceId);
          return { scope, input: job };
        });
        return once(async (trx) => {
          const created = await createJobs(trx, getPlan, actor, { organizationId, jobs });
          return { organizationId, items: created.map((job) => withoutLongInput(toJob(job))) };
        });
      });
      const shown = items.map((job, index) => ({ input: inputOf(input.jobs[index] as CreateJobInput), ...job }) as ShownJob);
      return { items: shown.map((job) => shownTo(caller, job)) };
    }),

    cancel: procedure(contract.jobs.cancel, async ({ input, actor, authorize }) => {
      const job = await getJob(db, input.id);
      await authorize(job.organization_id, job.workspace_id);
      return toJob(shownAs(await inTransaction(db, (trx) => cancelJob(trx, actor, job.id)), job));
    }),

    retry: procedure(contract.jobs.retry, async (context) => {
      const { input, actor, authorize } = context;
      const job = await withIdempotency<RecordedJob>(db, contract.jobs.retry, context, async (once) => {
        const original = await getJob(db, input.id);
        await authorize(original.organization_id, original.workspace_id);
        refuseMissing(deps.config, original.kind, {
          path: ['id'],
          message: `names a ${original.kind} job, a kind that EXTRA_JOB_KINDS of this deployment does not name`,
        });
        return once(async (trx) => withoutLongInput(toJob(await retryJob(trx, getPlan, actor, original))));
      });
      if (job.input) return job as ShownJob;
      // The input was too long to store with the key.
      return { ...job, input: toJob(await readWhole(db, await getJob(db, job.id))).input } as ShownJob;
    }),

    stream: procedure(contract.jobs.stream, async ({ input, caller, request, authorize }) => {
      await authorize(input.organizationId, input.workspaceId);
      const { organizationId, workspaceId } = input;
      const { lastEventId, streamId, hangUp, onClose } = request;
      // A client that was away while its workspace was deleted still learns how the jobs of the workspace ended.
      const resumed = lastEventId === undefined ? undefined : workspaceId;
      const isFormer = resumed !== undefined && (await hasJobsOfFormerWorkspace(db, organizationId, resumed));
      if (!isFormer) await checkFilters(input, authorize);
      if (lastEventId === undefined) request.setHeader('Last-Event-Id', deps.jobStreams.position(organizationId));
      return deps.jobStreams.open({ caller, organizationId, workspaceId, lastEventId, streamId, hangUp, onClose });
    }),
  };

  /** Throws FORBIDDEN if a filter names a row that the caller may not read or one of another organization, NOT_FOUND if there is none. */
  async function checkFilters(
    {
      organizationId,
      workspaceId,
      documentId,
    }: { organizationId: string; workspaceId?: string | undefined; documentId?: string | undefined },
    authorize: Authorize,
  ): Promise<void> {
    const workspace = workspaceId === undefined ? undefined : await getWorkspace(db, workspaceId);
    const document = documentId === undefined ? undefined : await getDocument(db, documentId);
    if ([workspace, document].some((row) => row && row.organization_id !== organizationId)) throw new ApiError('FORBIDDEN');
    if (document) await authorize(organizationId, document.workspace_id);
  }
}

type ShownJob = ReturnType<typeof toJob>;

/** With `once` the job may be an old one with a result, which only callers with `job:read` see. */
function shownTo(caller: Caller, job: ShownJob): ShownJob {
  return holdsPermission(caller, job, 'job:read') ? job : { ...job, result: null };
}

/** The stored response for a job that was created with an `Idempotency-Key`. */
type RecordedJob = Omit<ShownJob, 'input'> & { input?: ShownJob['input'] };

interface RecordedJobs {
  organizationId: string;
  items: RecordedJob[];
}

/** The maximum input that is stored with a key, in characters of JSON. A longer one is taken from the request, or read from the job. */
const recordedLength = 4_096;

function withoutLongInput({ input, ...rest }: ShownJob): RecordedJob {
  return JSON.stringify(input).length > recordedLength ? rest : { ...rest, input };
}
