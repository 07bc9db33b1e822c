import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createTestDatabase } from '../support/database.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { createJob, summary } from '../support/jobs.ts';
import { runProgram } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('A worker in the namespace of another deployment', () => {
  const { api, tenant } = useApi();

  it('does not begin, and says whose it is', async () => {
    const { id } = await createJob(api, tenant, summary);
    await api.jobIn(tenant.owner.token, id, ['succeeded']);
    const other = await createTestDatabase();
    // All databases of the tests are copies of one.
    await other.db.updateTable('deployment').set({ id: randomUUID() }).execute();
    const DATA_DIR = makeTestDirectory();
    const worker = runProgram(process.execPath, ['worker/main.ts'], { env: { ...api.stack.env, DATABASE_URL: other.url, DATA_DIR } });
    try {
      const [line] = await worker.printed(/.*the workers are not running.*/);
      expect(line).to.include('NamespaceOfAnotherDeployment').and.include('TEMPORAL_NAMESPACE');
      expect(worker.stdout()).not.to.include('"worker running"');
    } finally {
      worker.child.kill('SIGKILL');
      await worker.exited;
      await other.drop();
      removeTestDirectory(DATA_DIR);
    }
  });
});
