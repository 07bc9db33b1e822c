import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:net';
import { DefaultLogger, type LogEntry, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { logFieldsOf } from './log-fields.ts';

const levels = { TRACE: 'trace', DEBUG: 'trace', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;

/**
 * Writes the log of the SDK, including its native part, to the log of the process. With `measures` it returns a function that reads the
 * SDK's metrics in Prometheus's text format. Call it once, before using the SDK. `main.ts` handles signals, because it stops the parts in
 * order.
 */
export async function installRuntime({ log, measures }: { log: Logger; measures: boolean }): Promise<(() => Promise<string>) | undefined> {
  // Bound to this async context, since the SDK buffers lines and may write them during an unrelated step.
  const write = ({ level, message, meta }: LogEntry) => log[levels[level]]({ ...meta, ...fieldsOf(meta) }, message);
  // The SDK serves its metrics itself. Our own port shows them with ours, so that a process has one target to scrape.
  const bindAddress = measures ? `127.0.0.1:${await findFreePort()}` : undefined;
  Runtime.install({
    logger: new DefaultLogger('DEBUG', AsyncLocalStorage.bind(write)),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(bindAddress ? { metrics: { prometheus: { bindAddress } } } : {}),
    },
  });
  if (!bindAddress) return undefined;
  return async () => (await fetch(`http://${bindAddress}/metrics`, { signal: AbortSignal.timeout(2_000) })).text();
}

/** Converts the field names of the SDK's native part, which have underscores. */
function fieldsOf(meta: Record<string | symbol, unknown> = {}): object {
  const workflowId = meta.workflowId ?? meta.workflow_id;
  return typeof workflowId === 'string' ? logFieldsOf(workflowId) : {};
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port was found for the metrics of the SDK');
  return address.port;
}
