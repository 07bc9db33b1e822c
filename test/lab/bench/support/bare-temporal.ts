import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { startBaseline } from './baseline.ts';
import type { Service } from './service.ts';

/** Bare Temporal on the service's own server: a worker with its slots, and nothing else. */
interface BareTemporal {
  /** Runs a workflow with one activity. */
  run(): Promise<unknown>;
  /** What an upload with its job is at least: a workflow that waits for a signal, and one with an activity after it. */
  waitAndRun(): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts the worker with as many slots as the service's has by default. */
export async function startBareTemporal(service: Service): Promise<BareTemporal> {
  const address = service.stack.temporalAddress;
  const worker = await startBaseline(service, 'bare-temporal.ts', [address, '2'], 'bare worker running');
  const connection = await Connection.connect({ address });
  const { workflow } = new Client({ connection });
  const options = () => ({ taskQueue: 'bare', workflowId: `bare-${randomUUID()}` });
  const run = () => workflow.execute('bare', options());
  return {
    run,
    async waitAndRun() {
      const waiting = await workflow.start('bareWait', options());
      await waiting.signal('ended');
      await Promise.all([waiting.result(), run()]);
    },
    async stop() {
      await connection.close();
      await worker.stop();
    },
  };
}
