import { NativeConnection, Worker } from '@temporalio/worker';
import { expect } from 'chai';
import type { Activities } from '../../activities/index.ts';
import { checkNamespaceOwner, NamespaceOfAnotherDeployment, workerIdentity } from '../../adapters/temporal/namespace.ts';
import { mainTaskQueue } from '../../contract/intents/definitions.ts';
import { createWorkers } from '../../worker/create-workers.ts';
import { bundleWorkflows } from '../../worker/workflow-bundle.ts';
import { createTestNamespace, type TestNamespace } from '../support/temporal.ts';

describe('The workers of a process', () => {
  let temporal: TestNamespace;
  let connection: NativeConnection;
  before(async () => {
    temporal = await createTestNamespace();
  });
  beforeEach(async () => {
    connection = await NativeConnection.connect({ address: temporal.address });
  });
  // Rejects while a worker holds the connection.
  afterEach(() => connection.close());
  after(() => temporal.close());

  /** Why workers cannot be created of which two have one queue: the server's client refuses that in one process. */
  async function failToCreate(): Promise<unknown> {
    const activities = { runJobAttempt: async () => undefined, other: async () => undefined } as unknown as Activities;
    const { namespace } = temporal;
    const options = {
      connection,
      namespace,
      dataConverter: {},
      activities,
      concurrency: 1,
      shutdownGraceMs: 0,
      findReadOnly: async () => null,
      sinks: {} as never,
    };
    const bundle = await bundleWorkflows();
    return await createWorkers({ ...options, jobKinds: ['text.embed', 'text.embed'] }, bundle).catch((error: unknown) => error);
  }

  it('are not begun in a namespace that workers of another deployment poll', async () => {
    const { client, namespace } = temporal;
    const check = (deployment: string) => checkNamespaceOwner(client, namespace, deployment).catch((error: unknown) => error);
    const poll = (identity: string) =>
      client.withDeadline(Date.now() + 4_000, () =>
        client.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: mainTaskQueue }, identity }).catch(() => undefined),
      );
    await poll('1@of-an-earlier-version');
    expect(await check('own')).to.equal(undefined);
    await poll(workerIdentity('own'));
    expect(await check('own')).to.equal(undefined);
    expect(await check('another')).to.be.instanceOf(NamespaceOfAnotherDeployment);
  });

  it('hold no connection after one of them could not be created', async () => {
    expect(await failToCreate()).to.be.instanceOf(Error);
  });

  it('fail for the reason that one could not be created, whatever becomes of the end of the others', async () => {
    const { run } = Worker.prototype;
    let ends = 0;
    Worker.prototype.run = async function (this: Worker) {
      await run.call(this);
      ends += 1;
      throw new Error('the end of a worker failed');
    };
    try {
      expect(await failToCreate())
        .to.have.property('message')
        .that.matches(/^Failed to initialize worker/);
      expect(ends).to.equal(2);
    } finally {
      Worker.prototype.run = run;
    }
  });
});
