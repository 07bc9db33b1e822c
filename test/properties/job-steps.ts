import { deepStrictEqual } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import fc from 'fast-check';
import { beginReplay, requestReplay } from '../../domain/jobs/replay-jobs.ts';
import { describeFailure, settledFailure } from '../../workflows/job-outcomes.ts';
import { expectDone, findNewJob, type Model, pick, type Step, step } from './agreement.ts';
import { breaks, describeBreak, index } from './arbitraries.ts';
import type { Break } from './connection-breaker.ts';
import * as rules from './money-rules.ts';
import type { JobState } from './money-state.ts';
import type { Tenant } from './tenant.ts';

const hasJobs = ({ state }: Model) => state.jobs.length > 0;

/** Creates a job: of 5 credits or 1. With a key the request is repeated, and its job is one, whatever breaks. */
const create = fc
  .record({
    large: fc.boolean(),
    maxAttempts: fc.integer({ min: 1, max: 3 }),
    workspace: fc.option(index),
    keyed: fc.boolean(),
    at: breaks,
  })
  .map(({ large, maxAttempts, workspace, keyed, at }) =>
    step(
      `create(${large ? 5 : 1} credits, ${maxAttempts} attempts${keyed ? ', with a key' : ''}${describeBreak(at)})`,
      () => true,
      async (model, tenant) => {
        const { state } = model;
        const workspaceId = workspace === null ? null : pick(state.workspaces, workspace).id;
        const job = { credits: large ? 5 : 1, maxAttempts, workspaceId, retryOf: null };
        const { organizationId } = tenant;
        const kind = large ? { kind: 'text.summarize', text: 'One.', maxSentences: 1 } : { kind: 'text.embed', texts: ['one'] };
        await request(
          model,
          tenant,
          { operation: 'jobs.create', input: { ...kind, organizationId, workspaceId, maxAttempts }, keyed, at },
          job,
        );
      },
    ),
  );

const retry = fc.record({ job: index, keyed: fc.boolean(), at: breaks }).map(({ job, keyed, at }) =>
  step(`retry(${job}${keyed ? ', with a key' : ''}${describeBreak(at)})`, hasJobs, async (model, tenant) => {
    const original = pick(model.state.jobs, job);
    const { credits, maxAttempts, workspaceId, id: retryOf } = original;
    const input = { id: retryOf };
    await request(model, tenant, { operation: 'jobs.retry', input, keyed, at }, { credits, maxAttempts, workspaceId, retryOf });
  }),
);

type NewJob = Omit<Parameters<typeof rules.addJob>[1], 'id'>;
interface Request {
  operation: string;
  input: unknown;
  keyed: boolean;
  at: Break | undefined;
}

async function request(model: Model, tenant: Tenant, { operation, input, keyed, at }: Request, job: NewJob): Promise<void> {
  const { state } = model;
  const original = state.jobs.find(({ id }) => id === job.retryOf);
  const refusal = original ? rules.refusesRetry(state, original) : rules.refusesCharge(state, job.credits, job.workspaceId);
  const key = keyed ? randomUUID() : undefined;
  const send = () => tenant.call(operation, input, key);
  const first = await tenant.try(send, at);
  const outcome = keyed && first.broken ? await tenant.try(send) : first;
  if (!expectDone(outcome, refusal)) return;
  const id = outcome.value?.id ?? (await findNewJob(model, tenant, job.retryOf));
  rules.addJob(state, { ...job, id });
  if (keyed) deepStrictEqual((await send()).id, id);
}

const cancel = fc.record({ job: index, at: breaks }).map(({ job, at }) =>
  step(`cancel(${job}${describeBreak(at)})`, hasJobs, async ({ state }, tenant) => {
    const target = pick(state.jobs, job);
    const outcome = await tenant.try(() => tenant.call('jobs.cancel', { id: target.id }), at);
    if (expectDone(outcome, rules.refusesCancel(target))) rules.end(target, 'canceled');
  }),
);

/** A worker takes a job, which then waits for the AI service. An attempt that is never ended is one whose worker died. */
const begin = fc.record({ job: index, at: breaks }).map(({ job, at }) =>
  step(`begin(${job}${describeBreak(at)})`, hasJobs, async (model, tenant) => {
    const target = pick(model.state.jobs, job);
    const attempt = tenant.newName('attempt');
    const { service } = tenant;
    if (at) service.breaker.arm(at);
    const run = () => service.actIn(attempt, 'runJobAttempt', { jobId: target.id });
    const { call, result } = await service.ai.callOf(run);
    const broken = service.breaker.disarm();
    if (call) {
      deepStrictEqual(rules.beginAttempt(model.state, target, attempt), true);
      tenant.attempts.push({ id: attempt, jobId: target.id, call, result });
      model.attempts.push({ id: attempt, jobId: target.id, workspaceId: target.workspaceId });
      return;
    }
    const outcome = await tenant.try(() => result);
    if (outcome.value) return deepStrictEqual((outcome.value as { status: string }).status, target.status);
    if (isHeldElsewhere(outcome.error)) return deepStrictEqual(target.status, 'running');
    if (!broken) throw outcome.error;
    if (broken.lasting) rules.beginAttempt(model.state, target, attempt);
    await settle(tenant, target, attempt, outcome.error);
  }),
);

/** An attempt comes to its end: with a result, or with a failure, which its workflow settles. */
const finish = fc
  .record({ attempt: index, how: fc.constantFrom('succeeds', 'fails', 'fails finally' as const), at: breaks })
  .map(({ attempt, how, at }) =>
    step(
      `attempt ${attempt} ${how}${describeBreak(at)}`,
      ({ attempts }) => attempts.length > 0,
      async (model, tenant) => {
        const { id, jobId, workspaceId } = pick(model.attempts, attempt);
        const { call, result } = take(tenant, id);
        model.attempts = model.attempts.filter((each) => each.id !== id);
        const job = model.state.jobs.find((each) => each.id === jobId);
        if (!job) throw new Error(`the job ${jobId} is unknown`);
        if (how !== 'succeeds') {
          call.fail(how === 'fails finally');
          return await settle(tenant, job, id, (await tenant.try(() => result)).error, at);
        }
        call.answer();
        const { value, error, broken } = await tenant.try(() => result, at);
        if (value) return deepStrictEqual((value as { status: string }).status, rules.succeed(job, id) ? 'succeeded' : job.status);
        if (isHeldElsewhere(error))
          return deepStrictEqual([rules.succeed(job, id), ['queued', 'running'].includes(job.status)], [false, true]);
        const isGone = workspaceId !== null && !model.state.workspaces.some((each) => each.id === workspaceId);
        if (!broken && describeFailure(asRecorded(error))?.code !== (isGone ? 'workspace_missing' : undefined)) throw error;
        // Its write may have found that the attempt is over, and changed nothing.
        if (broken?.lasting && !isGone) rules.succeed(job, id);
        await settle(tenant, job, id, error);
      },
    ),
  );

/** An attempt has failed, and has settled its job. If it could not, its workflow does, as soon as Temporal gives it up. */
async function settle(tenant: Tenant, job: JobState, attempt: string, error: unknown, at?: Break): Promise<void> {
  const recorded = asRecorded(error);
  const failure = describeFailure(recorded);
  await tenant.untilDone(() => tenant.service.act('settleAttempt', { jobId: job.id, claimedBy: attempt, failure }), at);
  rules.fail(job, attempt, settledFailure(recorded) !== undefined);
}

/** The failure of an activity as its workflow gets it. */
function asRecorded(error: unknown): ActivityFailure {
  return new ActivityFailure('Activity task failed', 'runJobAttempt', '1', 'MAXIMUM_ATTEMPTS_REACHED', '', error as Error);
}

function isHeldElsewhere(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === 'held_elsewhere';
}

function take(tenant: Tenant, id: string) {
  const at = tenant.attempts.findIndex((each) => each.id === id);
  const [taken] = tenant.attempts.splice(at, 1);
  if (!taken) throw new Error(`there is no attempt ${id}`);
  return taken;
}

const sweep = breaks.map((at) =>
  step(
    `sweep${describeBreak(at)}`,
    () => true,
    async ({ state }, tenant) => {
      await tenant.untilDone(() => tenant.service.act('takeBackLost'), at);
      await tenant.service.act('startMissing');
      rules.sweep(state);
    },
  ),
);

/** An operator retries every failed job that was not retried; the workflow repeats a batch that broke off. */
const replay = breaks.map((at) =>
  step(`replay${describeBreak(at)}`, hasJobs, async (model, tenant) => {
    const { service, organizationId } = tenant;
    const jobIds = await service.act('listReplayable', { filter: { organizationId }, replayRun: 'none', after: null, limit: 100 });
    const originals = rules.replayable(model.state);
    deepStrictEqual(
      jobIds,
      originals.map(({ id }) => id),
    );
    const replayRun = randomUUID();
    const asked = { id: replayRun, input: { organizationId } };
    await requestReplay(service.database.db, asked);
    await beginReplay(service.database.db, { ...asked, replayRun });
    await tenant.untilDone(() => service.act('replayJobs', { jobIds, replayRun }), at);
    for (const original of originals) {
      if (rules.refusesRetry(model.state, original)) continue;
      const { credits, maxAttempts, workspaceId, id: retryOf } = original;
      rules.addJob(model.state, { credits, maxAttempts, workspaceId, retryOf, id: await findNewJob(model, tenant, retryOf) });
    }
  }),
);

export const jobSteps: fc.Arbitrary<Step>[] = [
  create,
  create,
  create,
  retry,
  cancel,
  begin,
  begin,
  begin,
  finish,
  finish,
  finish,
  sweep,
  replay,
];
