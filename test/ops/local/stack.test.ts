import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client, Connection } from '@temporalio/client';
import { expect } from 'chai';
import pg from 'pg';
import { memoryEnvironment, memoryFlags } from '../../../ops/local/services.ts';
import { type Stack, startStack } from '../../../ops/local/stack.ts';
import { commandOf } from '../../../ops/local/supervise.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { nightly } from '../../support/nightly.ts';
import { findProcesses, until } from '../../support/processes.ts';

describe('the local stack', () => {
  let dataDir: string;
  const stacks: Stack[] = [];
  const start = async (options: Omit<Parameters<typeof startStack>[0], 'dataDir'>) => {
    const stack = await startStack({ dataDir, temporalUi: false, ...options });
    stacks.push(stack);
    return stack;
  };

  beforeEach(() => {
    dataDir = makeTestDirectory();
  });

  afterEach(async () => {
    await Promise.all(stacks.splice(0).map((stack) => stack.stop()));
    removeTestDirectory(dataDir);
  });

  it('keeps rows, workflows and secrets from one start to the next', async () => {
    const first = await start({ services: ['postgres', 'temporal'] });
    await query(first, 'create table kept (value text)');
    await query(first, "insert into kept values ('before')");
    await useTemporal(first, (client) => client.workflow.start('waits', { taskQueue: 'nobody', workflowId: 'kept' }));
    await first.stop();

    const second = await start({ services: ['postgres', 'temporal'] });
    expect(await query(second, 'select value from kept')).to.deep.equal([{ value: 'before' }]);
    const kept = await useTemporal(second, (client) => client.workflow.getHandle('kept').describe());
    expect(kept.status.name).to.equal('RUNNING');
    expect(second.env.AUTH_SECRET).to.equal(first.env.AUTH_SECRET);
    expect(second.serviceToken).to.equal(first.serviceToken);
  });

  it("keeps Temporal's workflows with a write-ahead log, those of a file that was made without one too", async () => {
    const isLogged = () =>
      readFileSync(join(dataDir, 'temporal.db'))
        .subarray(18, 20)
        .equals(Buffer.from([2, 2]));
    const first = await start({ services: ['temporal'] });
    await useTemporal(first, (client) => client.workflow.start('waits', { taskQueue: 'nobody', workflowId: 'kept' }));
    await first.stop();
    expect(isLogged()).to.equal(true);
    const file = new DatabaseSync(join(dataDir, 'temporal.db'));
    file.exec('pragma journal_mode = delete');
    file.close();
    expect(isLogged()).to.equal(false);

    const second = await start({ services: ['temporal'] });
    const kept = await useTemporal(second, (client) => client.workflow.getHandle('kept').describe());
    expect(kept.status.name).to.equal('RUNNING');
    expect(isLogged()).to.equal(true);
    expect(commandOf(second.pid('temporal') ?? 0)).to.include('synchronous=normal');
  });

  nightly('keeps every workflow that Temporal acknowledged before it was killed under load', async () => {
    const stack = await start({ services: ['temporal'] });
    const acknowledged: string[] = [];
    await useTemporal(stack, async (client) => {
      let next = 0;
      const startUntilItFails = async () => {
        for (;;) {
          const workflowId = `under-load-${next++}`;
          try {
            await client.withDeadline(Date.now() + 5000, () => client.workflow.start('waits', { taskQueue: 'nobody', workflowId }));
          } catch {
            return;
          }
          acknowledged.push(workflowId);
        }
      };
      const load = Promise.all(Array.from({ length: 10 }, startUntilItFails));
      await until(() => acknowledged.length > 100);
      await stack.kill('temporal');
      await load;
    });
    await stack.start('temporal');
    await useTemporal(stack, async (client) => {
      for (const id of acknowledged) expect((await client.workflow.getHandle(id).describe()).status.name, id).to.equal('RUNNING');
    });
  });

  it('lets nobody but this machine reach the AI service', async () => {
    const stack = await start({ services: ['ai'] });
    expect((await fetch(`${stack.aiUrl}/health`)).status).to.equal(200);
    // An address that only a service on every interface answers at.
    const elsewhere = await fetch(`http://127.0.0.2:${stack.ports.ai}/health`).catch((error: Error) => error);
    expect(elsewhere).to.be.instanceOf(Error);
  });

  nightly(
    'runs the API with what holds its memory low, and with what it was given of services outside, whatever the environment names',
    async function () {
      if (!existsSync('/proc/self/environ')) this.skip();
      const stack = await start({ services: ['postgres', 'temporal', 'ai', 'api'], env: { CONTACT_EMAIL: 'somebody@example.com' } });
      const read = (name: string) => readFileSync(`/proc/${stack.pid('api')}/${name}`, 'utf8').split('\0');
      expect(read('environ')).to.include.members(Object.entries(memoryEnvironment).map(([name, value]) => `${name}=${value}`));
      expect(read('environ')).to.include.members(['DATABASE_DIRECT_URL=', 'TEMPORAL_API_KEY=', 'STORAGE_BUCKET=', 'SMTP_URL=']);
      // The file of a variable would count more than the variable.
      const files = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'SMTP_URL', 'STRIPE_SECRET_KEY', 'AUTH_SECRET', 'SERVICE_TOKEN'];
      expect(read('environ')).to.include.members(files.map((name) => `${name}_FILE=`));
      expect(read('environ')).to.include('CONTACT_EMAIL=somebody@example.com');
      expect(read('cmdline')).to.include.members(memoryFlags);
      const tasks = `/proc/${stack.pid('api')}/task`;
      const threads = readdirSync(tasks).map((id) => {
        try {
          return readFileSync(`${tasks}/${id}/comm`, 'utf8');
        } catch {
          return 'has ended';
        }
      });
      expect(threads.filter((name) => name.startsWith('V8Worker'))).to.have.length(1);
    },
  );

  it('keeps finished workflows for 30 days', async () => {
    const stack = await start({ services: ['temporal'], durable: false });
    const { config } = await useTemporal(stack, (client) => client.workflowService.describeNamespace({ namespace: 'default' }));
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).to.equal(30 * 24 * 3600);
  });

  it('stops what it started when a service cannot start, and says why with its log', async () => {
    const blocker = createServer();
    const port = await new Promise<number>((resolve) =>
      blocker.listen(0, '127.0.0.1', () => resolve((blocker.address() as { port: number }).port)),
    );
    const failure = await start({ services: ['postgres', 'temporal'], ports: { postgres: port } }).catch((error: Error) => error);
    blocker.close();
    expect(failure)
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.matches(/Postgres exited with code 1 before it was ready/);
    expect(failure).to.have.property('message').that.includes('Address already in use').and.includes(`${dataDir}/logs/postgres.log`);
    expect(findProcesses(dataDir)).to.deep.equal([]);
  });
});

async function query(stack: Stack, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function useTemporal<T>(stack: Stack, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: stack.temporalAddress });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}
