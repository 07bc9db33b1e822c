import { expect } from 'chai';
import { aiError } from '../support/fake-ai.ts';
import { runOps, startOps } from '../support/ops.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('npm run ops, while it follows a workflow', () => {
  const { api, ai } = useApi({ ai: true });
  const count = ['reindex', '--all', '--dry-run', '--json'];

  function environment(namespace = api.temporal.namespace) {
    const { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR } = api.stack.env;
    return { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR, TEMPORAL_NAMESPACE: namespace };
  }

  it('says once what the workflow waits for, and prints nothing but JSON', async () => {
    let calls = 0;
    ai.behave('embed', () => (++calls === 1 ? aiError(500, 'internal') : { body: { model: 'new', dimensions: 1, vectors: [[1]] } }));
    const { code, stdout, stderr } = await runOps(count, environment());
    ai.behave('embed');
    expect({ code, stderr }).to.deep.equal({
      code: 0,
      stderr: 'The re-embedding waits: readReindexTarget fails with ai_failed, and is tried again.\n',
    });
    expect(JSON.parse(stdout).progress).to.deep.include({ behind: 0, target: { ...JSON.parse(stdout).progress.target, model: 'new' } });
  });

  it('says that no worker runs', async () => {
    const program = startOps(count, environment('default'));
    await until(() => program.stderr() !== '', 30_000);
    program.child.kill();
    expect(program.stderr()).to.equal('The re-embedding waits: no worker runs.\n');
  });
});
