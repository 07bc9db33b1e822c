import type { Environment } from '../../base/config/environment.ts';
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

/** The attempts of an activity as its history tells of them: all as one, when the last has ended. */
interface AttemptStep {
  /** The process that took the last one. */
  pid: number;
  /** How many there were. */
  attempts: number;
  /** Whether the one before the last ended with the loss of its worker. */
  lost: boolean;
}

/** The activities of a job's attempts that have ended, in order. */
export async function attemptsOf(api: TestApi, jobId: string): Promise<AttemptStep[]> {
  const { events = [] } = await api.temporal.client.workflow.getHandle(`job-${jobId}`).fetchHistory();
  const scheduled = events?.filter(({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name === 'runJobAttempt') ?? [];
  const ids = new Set(scheduled.map(({ eventId }) => String(eventId)));
  return (events ?? []).flatMap(({ activityTaskStartedEventAttributes: started }) => {
    if (!started || !ids.has(String(started.scheduledEventId))) return [];
    const lost = started.lastFailure?.timeoutFailureInfo != null;
    return { pid: Number.parseInt(started.identity ?? '', 10), attempts: Number(started.attempt), lost };
  });
}
