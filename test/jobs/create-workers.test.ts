import { NativeConnection } from '@temporalio/worker';
import { expect } from 'chai';
import type { Activities } from '../../activities/index.ts';
import { createWorkers } from '../../worker/create-workers.ts';
import { bundleWorkflows } from '../../worker/workflow-bundle.ts';
import { createTestNamespace } from '../support/temporal.ts';

describe('The workers of a process', () => {
  it('hold no connection after one of them could not be created', async () => {
    const temporal = await createTestNamespace();
    const { address, namespace } = temporal;
    const connection = await NativeConnection.connect({ address });
    const activities = { runJobAttempt: async () => undefined, other: async () => undefined } as unknown as Activities;
    const options = { connection, namespace, dataConverter: {}, activities, concurrency: 1, shutdownGraceMs: 0, sinks: {} as never };
    const bundle = await bundleWorkflows();
    let failure: unknown;
    // The server's client refuses two workers of one queue in one process.
    await createWorkers({ ...options, jobKinds: ['text.embed', 'text.embed'] }, bundle).catch((error: unknown) => {
      failure = error;
    });
    expect(failure).to.be.instanceOf(Error);
    // Rejects while a worker holds the connection.
    await connection.close();
    await temporal.close();
  });
});
