import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { createKey } from '../support/api-keys.ts';
import { type BearerProxy, startBearerProxy } from '../support/bearer-proxy.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { runProgram } from '../support/processes.ts';
import { noteTokens } from '../support/run-secrets.ts';
import { useApi } from '../support/use-api.ts';

const program = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';
const expectedFailures = 'test/api/mcp-expected-failures.yaml';

describe('The conformance suite of MCP', () => {
  let proxy: BearerProxy;
  const { api, tenant } = useApi({ env: startProxy });
  const failed = new Set<string>();

  /** The suite sends no token. Its browser comes from the origin that it calls. */
  async function startProxy() {
    proxy = await startBearerProxy();
    return { MCP_WRITE: 'true', WORKER_ENABLED: 'false', TRUSTED_ORIGINS: proxy.url };
  }
  before(async () => {
    const { token } = await createKey(api, tenant, { requestsPerMinute: 10_000 });
    noteTokens(token);
    proxy.forwardTo({ url: api.url, token });
  });
  after(() => proxy.stop());

  for (const revision of ['2025-11-25', '2026-07-28']) {
    it(`finds nothing wrong by revision ${revision}, but for what needs tools of its own`, async function () {
      this.timeout(120_000);
      const directory = makeTestDirectory();
      const selection = ['--suite', 'all', '--spec-version', revision, '--expected-failures', expectedFailures];
      const run = runProgram(process.execPath, [program, 'server', '--url', `${proxy.url}/mcp`, ...selection, '--output-dir', directory]);
      const { code } = await run.exited;
      for (const check of failuresIn(directory)) failed.add(check);
      removeTestDirectory(directory);
      expect(code, `${run.stdout().split('=== SUMMARY ===')[1]}\n${run.stderr()}`).to.equal(0);
      expect(failed.size).to.be.above(10);
    });
  }

  it('still fails in each check that is expected to', () => {
    const { server }: { server: string[] } = parse(readFileSync(expectedFailures, 'utf8'));
    expect(server.filter((check) => !failed.has(check))).to.deep.equal([]);
  });
});

/** The checks that failed or warned, which must be expected, too, as `scenario:check`. The suite writes `server-<scenario>-<time>/checks.json`. */
function failuresIn(directory: string): string[] {
  return globSync('server-*/checks.json', { cwd: directory }).flatMap((file) => {
    const [, scenario] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(file) ?? [];
    const checks: { id: string; status: string }[] = JSON.parse(readFileSync(join(directory, file), 'utf8'));
    return checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING').map(({ id }) => `${scenario}:${id}`);
  });
}
