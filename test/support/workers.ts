import type { Environment } from '../../config/environment.ts';
import type { TestApi } from './api.ts';
import { type Program, runProgram } from './processes.ts';

/** A worker beside those of the stack: another process, of today's sources or of another release. */
export interface ExtraWorker {
  program: Program;
  /** Its process id, by which it signs what it takes from Temporal. */
  pid: number;
  kill(): Promise<void>;
}

/** Starts a worker from a folder of sources and waits until it polls. */
export async function startExtraWorker(
  api: TestApi,
  { env = {}, cwd = '.' }: { env?: Environment; cwd?: string } = {},
): Promise<ExtraWorker> {
  const program = runProgram(process.execPath, ['worker/main.ts'], { cwd, env: { ...api.stack.env, ...env } });
  await program.printed(/"worker running"/, 60_000);
  return {
    program,
    pid: program.pid,
    async kill() {
      program.child.kill('SIGKILL');
      await program.exited;
    },
  };
}

/** An attempt as the history tells of it. */
export interface AttemptStep {
  /** The process that took it; undefined if none has. */
  pid: number | undefined;
  /** Whether it ended with the loss of its worker. */
  lost: boolean;
}

/** Every attempt in the history of a job's workflow, in order. */
export async function attemptsOf(api: TestApi, jobId: string): Promise<AttemptStep[]> {
  const { events } = await api.temporal.client.workflow.getHandle(`job-${jobId}`).fetchHistory();
  const attempts = new Map<string, AttemptStep>();
  for (const event of events ?? []) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType?.name === 'runJobAttempt') attempts.set(String(event.eventId), { pid: undefined, lost: false });
    const started = event.activityTaskStartedEventAttributes;
    const taken = started && attempts.get(String(started.scheduledEventId));
    if (taken) taken.pid = Number.parseInt(started.identity ?? '', 10);
    const timedOut = event.activityTaskTimedOutEventAttributes;
    const ended = timedOut && attempts.get(String(timedOut.scheduledEventId));
    if (ended) ended.lost = true;
  }
  return [...attempts.values()];
}
