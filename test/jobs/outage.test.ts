import { Client, Connection } from '@temporalio/client';
import { expect } from 'chai';
import { findFreePorts } from '../../ops/local/ports.ts';
import { type Stack, startStack } from '../../ops/local/stack.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { amountsOf, createJob, expectCleanLog, expectSoundLedger, summary } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { runProgram, until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

describe('While Temporal is away', () => {
  let directory: string;
  let temporal: Stack;
  let client: Client;

  // Its port is known before it runs, and it keeps what it knew.
  let port: number;
  const { api, ai, tenant } = useApi({
    process: true,
    ai: true,
    async env() {
      [port = 0] = await findFreePorts(1);
      const own = { TEMPORAL_ADDRESS: `127.0.0.1:${port}`, TEMPORAL_NAMESPACE: 'default', WORKER_ENABLED: 'false' };
      return withTimes({ jobRetryDelays: [200] }, own);
    },
  });
  before(async () => {
    directory = makeTestDirectory();
    client = new Client({ connection: Connection.lazy({ address: `127.0.0.1:${port}` }) });
    temporal = await startStack({ dataDir: directory, services: [], ports: { temporal: port }, temporalUi: false });
  });
  after(async () => {
    await api.stack.stop();
    await client.connection.close();
    await temporal.stop();
    removeTestDirectory(directory);
  });
  afterEach(async () => {
    ai.behave('summarize');
    await expectSoundLedger(api);
    expectCleanLog(api, 'api', 'worker');
  });

  const job = (id: string, statuses: string[]) => api.jobIn(tenant.owner.token, id, statuses);
  const post = (path: string, body?: unknown) => api.request('POST', `/api/v1${path}`, { token: tenant.owner.token, body });
  const attemptsOf = async (id: string) => {
    const row = await api.database.db.selectFrom('outbox').select('attempts').where('workflow_id', '=', `job-${id}`).executeTakeFirst();
    return row?.attempts ?? 0;
  };
  const waiting = () => api.database.db.selectFrom('outbox').select('id').execute();

  async function timed<T>(work: () => Promise<T>): Promise<{ answer: T; ms: number }> {
    const startedAt = performance.now();
    return { answer: await work(), ms: performance.now() - startedAt };
  }

  /** Creates a job while Temporal is away, and stays away until this returns. */
  async function createWithoutWait(): Promise<any> {
    const { answer, ms } = await timed(() => createJob(api, tenant, summary));
    // A call of Temporal without a deadline of its own takes ten seconds to fail, or does not end.
    expect(ms).to.be.lessThan(9_000);
    return answer;
  }

  nightly('the API boots and answers as fast as ever; what was asked for is done once Temporal is there, in order', async () => {
    const creations: number[] = [];
    const jobs: any[] = [];
    for (let n = 0; n < 20; n++) {
      const { answer, ms } = await timed(() => createJob(api, tenant, summary));
      creations.push(ms);
      jobs.push(answer);
    }
    // The dispatch in the background gives up after a second: so long each would take if it waited for it.
    expect(creations.sort((one, other) => one - other)[10]).to.be.lessThan(1_000);
    const [first, ...others] = jobs;
    expect((await post(`/jobs/${first.id}/cancel`)).body.status).to.equal('canceled');
    const upload = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', bytes: 'Some text.' };
    const { id: documentId } = await api.upload(tenant, upload);
    expect((await api.request('GET', '/readyz')).status).to.equal(200);
    expect(await waiting()).to.have.lengthOf(23);
    const away = () =>
      api.stack
        .readLog('api')
        .split('\n')
        .filter((line) => line.includes('"Temporal cannot be reached;'));
    await until(() => away().length > 0);
    expect(away()).to.have.lengthOf(1);
    expect(JSON.parse(away()[0] ?? '').err.message, 'why')
      .to.be.a('string')
      .that.is.not.equal('');

    await temporal.start('temporal');
    await api.stack.start('worker');

    for (const { id } of others) expect(await job(id, ['succeeded'])).to.include({ attempts: 1 });
    await until(async () => (await waiting()).length === 0);
    expect(await job(first.id, ['canceled'])).to.include({ attempts: 0 });
    expect(ai.callsOf(first.id)).to.equal(0);
    expect(await amountsOf(api, first.id)).to.deep.equal([5, -5]);
    // The signal that the upload is complete came after the start of its workflow, which is over.
    expect(await client.workflow.getHandle(`upload-${documentId}`).result()).to.deep.equal({ purged: false });
  });

  nightly('jobs wait for a server that was killed, and run once it is back', async () => {
    await temporal.kill('temporal', 'SIGKILL');
    const created = await createWithoutWait();
    expect(created.status).to.equal('queued');
    // The relay has asked in vain by then.
    await until(async () => (await attemptsOf(created.id)) > 0);
    expect(await job(created.id, ['queued'])).to.include({ attempts: 0 });

    await temporal.start('temporal');

    expect(await job(created.id, ['succeeded'])).to.include({ attempts: 1 });
    await until(async () => (await waiting()).length === 0);
  });

  nightly('a burst of jobs ends, each once, when the server is killed in the midst of it', async () => {
    const created: string[] = [];
    const create = async () => {
      for (let n = 0; n < 15; n++) created.push((await createJob(api, tenant, summary)).id);
    };
    const burst = Promise.all([create(), create(), create(), create()]);
    await until(() => created.length > 25);
    await temporal.kill('temporal', 'SIGKILL');
    await burst;
    await temporal.start('temporal');

    for (const id of created) {
      await api.jobIn(tenant.owner.token, id, ['succeeded'], 100_000);
      expect(await amountsOf(api, id)).to.deep.equal([5]);
      expect(await client.workflow.getHandle(`job-${id}`).result()).to.deep.equal({ status: 'succeeded' });
    }
    expect(created).to.have.lengthOf(60);
    await until(async () => (await waiting()).length === 0);
  });

  nightly('jobs wait for a server that has stopped answering', async () => {
    temporal.signal('temporal', 'SIGSTOP');
    const created = await createWithoutWait();
    await until(async () => (await attemptsOf(created.id)) > 0);
    expect(await job(created.id, ['queued'])).to.include({ attempts: 0 });
    temporal.signal('temporal', 'SIGCONT');
    expect(await job(created.id, ['succeeded'])).to.include({ attempts: 1 });
  });

  nightly('a job under way finishes, and its workflow learns of it', async () => {
    const free = Promise.withResolvers<void>();
    ai.behave('summarize', async () => {
      await free.promise;
      return { body: { summary: 'Short.', sentences: 1, model: 'fake', characters: 3 } };
    });
    const { id } = await createJob(api, tenant, summary);
    await until(() => ai.callsOf(id) === 1);
    await temporal.kill('temporal', 'SIGKILL');
    free.resolve();
    expect(await job(id, ['succeeded'])).to.include({ attempts: 1 });
    await temporal.start('temporal');

    expect(await client.workflow.getHandle(`job-${id}`).result()).to.deep.equal({ status: 'succeeded' });
    expect(ai.callsOf(id)).to.equal(1);
    expect(await amountsOf(api, id)).to.deep.equal([5]);
  });

  nightly('a worker that boots waits for it, and a stop does not', async () => {
    await temporal.kill('temporal', 'SIGKILL');
    const env = { ...api.stack.env, PORT: String((await findFreePorts(1))[0]), WORKER_ENABLED: 'true' };
    const booted = runProgram(process.execPath, ['api/main.ts'], { env });
    try {
      await booted.printed(/"API listening"/);
      await booted.printed(/the workers are not running/);
      expect((await fetch(`http://localhost:${env.PORT}/readyz`)).status).to.equal(200);
      booted.child.kill('SIGTERM');
      // Temporal is still away.
      expect(await booted.exited).to.deep.equal({ code: 0, signal: null });
    } finally {
      booted.child.kill('SIGKILL');
      await temporal.start('temporal');
    }
  });
});
