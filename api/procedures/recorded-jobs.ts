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

/** What is stored of a job that was created with an `Idempotency-Key`. A replay has the same input, since its request is the same. */
export function createdJobRecord(input: CreateJobInput): KeptResult<ShownJob> {
  return {
    keep: keepWithoutTexts,
    complete: async (kept) => ({ input: inputOf(input), ...kept }) as ShownJob,
  };
}

/** The same for a retry, whose input is read from the new job. Texts that the job has let go of meanwhile are shortened in a replay too. */
export function retriedJobRecord(db: Db): KeptResult<ShownJob> {
  return {
    keep: keepWithoutTexts,
    async complete(kept) {
      if ('input' in kept) return kept as ShownJob;
      const { input } = toJob(await readWhole(db, await getJob(db, (kept as KeptJob).id)));
      return { ...kept, input } as ShownJob;
    },
  };
}

function keepWithoutTexts({ input, ...rest }: ShownJob): object {
  return JSON.stringify(input).length > keptLength ? rest : { ...rest, input };
}
