import { ServiceError } from '../service-error.ts';
import { closeNetwork } from './close-network.ts';
import type { ChildMessage, TaskMessage } from './protocol.ts';

type Handler = (payload: never) => Promise<unknown> | unknown;

/**
 * Makes this process a child of a pool, which runs tasks until the parent ends. `warmUp` loads what the first task would otherwise
 * wait for, and returns a problem in one sentence, or null.
 */
export function serveTasks(handlers: Record<string, Handler>, warmUp: () => Promise<string | null>): void {
  closeNetwork();
  // A signal to the whole process group (Ctrl-C, a supervisor) is meant for the parent, which drains and then ends its children.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.on('message', (message: TaskMessage) => {
    void runTask(handlers, message);
  });
  void warmUp().then(
    (problem) => send({ kind: 'ready', problem }),
    (error: unknown) => send({ kind: 'ready', problem: describe(error) }),
  );
}

async function runTask(handlers: Record<string, Handler>, { task, payload }: TaskMessage): Promise<void> {
  send({ kind: 'begun' });
  try {
    const handler = handlers[task];
    if (!handler) throw new Error(`No handler for the task ${task}.`);
    const result = await handler(payload as never);
    send({ kind: 'result', result, rssBytes: process.memoryUsage.rss() });
  } catch (error) {
    if (error instanceof ServiceError) {
      const { status, code, message } = error;
      send({ kind: 'refused', status, code, message, rssBytes: process.memoryUsage.rss() });
    } else {
      send({ kind: 'broken', detail: describe(error) });
    }
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'Something that is no Error was thrown.';
}

function send(message: ChildMessage): void {
  process.send?.(message);
}
