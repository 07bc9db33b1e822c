import type { Db } from '../../db/connect.ts';
import { inputOf } from '../../domain/jobs/create-job.ts';
import { getJob, readWhole } from '../../domain/jobs/job.ts';
import type { CreateJobInput } from '../../domain/jobs/job-scope.ts';
import type { KeptResult } from '../idempotency.ts';
import { toJob } from '../presenters/job.ts';

type ShownJob = ReturnType<typeof toJob>;
type KeptJob = Omit<ShownJob, 'input'>;

/** Longer inputs are not stored with an `Idempotency-Key`: the request has them, or the job. In characters of JSON. */
const keptLength = 4_096;

/** Waits until a response of so many bytes may be read and sent, for the organization of the job. */
type Admit = (organizationId: string, bytes: number) => Promise<void>;

/** What is stored of a job that was created with an `Idempotency-Key`. A replay has the same input, since its request is the same. */
export function createdJobRecord(input: CreateJobInput, admit: Admit): KeptResult<ShownJob> {
  return {
    keep: keepWithoutTexts,
    admit: (kept) => admit((kept as KeptJob).organizationId, inputBytesOf(input)),
    complete: async (kept) => ({ input: inputOf(input), ...kept }) as ShownJob,
  };
}

/** The same for a retry, whose input is read from the new job. Texts that the job has let go of meanwhile are shortened in a replay too. */
export function retriedJobRecord(db: Db, admit: Admit): KeptResult<ShownJob> {
  return {
    keep: keepWithoutTexts,
    async admit(kept) {
      if ('input' in kept) return;
      const job = await getJob(db, (kept as KeptJob).id);
      await admit(job.organization_id, job.content_bytes);
    },
    async complete(kept) {
      if ('input' in kept) return kept as ShownJob;
      const { input } = toJob(await readWhole(db, await getJob(db, (kept as KeptJob).id)));
      return { ...kept, input } as ShownJob;
    },
  };
}

/** The size of a job's input as JSON, in bytes. */
export function inputBytesOf(input: CreateJobInput): number {
  return Buffer.byteLength(JSON.stringify(inputOf(input)));
}

function keepWithoutTexts({ input, ...rest }: ShownJob): object {
  return JSON.stringify(input).length > keptLength ? rest : { ...rest, input };
}
