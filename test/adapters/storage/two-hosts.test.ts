import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { createJob } from '../../support/jobs.ts';
import { type Program, runProgram } from '../../support/processes.ts';
import { useApi } from '../../support/use-api.ts';

describe('A second host with local storage', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let other: string;
  let started: Program | undefined;
  beforeEach(() => {
    other = makeTestDirectory();
  });
  afterEach(async () => {
    started?.child.kill('SIGKILL');
    await started?.exited;
    removeTestDirectory(other);
  });

  const marker = (dataDir: string) => join(dataDir, 'objects/.deployment');
  async function start(program: 'api' | 'worker', dataDir = other): Promise<Program> {
    const [port = 0] = await findFreePorts(1);
    started = runProgram(process.execPath, [`${program}/main.ts`], { env: { ...api.stack.env, DATA_DIR: dataDir, PORT: String(port) } });
    return started;
  }

  it('runs no worker there before the API has marked the directory, and leaves it unmarked', async () => {
    const worker = await start('worker');
    const [line] = await worker.printed(/.*the workers are not running.*/);
    expect(line).to.include('UnmarkedStore').and.include('docs/deploy.md');
    expect(worker.stdout()).not.to.include('"worker running"');
    expect(existsSync(marker(other))).to.equal(false);
    expect(existsSync(marker(api.stack.dataDir))).to.equal(true);
  });

  for (const program of ['worker', 'api'] as const)
    it(`refuses to start the ${program} once there are documents, and their jobs succeed at the right store`, async () => {
      const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
      const { id } = await createJob(api, tenant, { kind: 'document.extract', documentId });
      const wrong = await start(program);
      expect(await wrong.exited).to.deep.equal({ code: 1, signal: null });
      const fatal =
        wrong
          .stdout()
          .split('\n')
          .find((line) => line.includes('this is not the store of its database')) ?? '';
      expect(fatal).to.include(join(other, 'objects')).and.include('Processes on several hosts need one store');
      expect(existsSync(marker(other))).to.equal(false);
      expect((await api.request('GET', `/api/v1/jobs/${id}`, { token: tenant.owner.token })).body.status).to.equal('queued');

      const right = await start('worker', api.stack.dataDir);
      await right.printed(/"worker running"/);
      await api.jobIn(tenant.owner.token, id, ['succeeded']);
    });
});
