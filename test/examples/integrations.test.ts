import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { findFreePorts } from '../../local/ports.ts';
import { completePython, runPython } from '../client/support/python-client.ts';
import { createKey } from '../support/api-keys.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { type Program, runProgram, until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';
import { addEndpoint, call, webhooksOn } from '../webhooks/support.ts';

const page = readFileSync('docs/integrations.md', 'utf8');

/** The code of a section in one language. */
function codeOf(section: string, language: string): string {
  const [text = ''] = new RegExp(`^## ${section}$.*?(?=^## )`, 'ms').exec(page) ?? [];
  const [, code = ''] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(text) ?? [];
  return code;
}

describe('docs/integrations.md', () => {
  const { api, tenant } = useApi({ env: webhooksOn });
  let directory: string;

  before(() => {
    directory = makeTestDirectory();
    symlinkSync(resolve('node_modules'), join(directory, 'node_modules'));
  });
  after(() => removeTestDirectory(directory));

  it('sends a folder, indexes and searches in Python', async () => {
    mkdirSync(join(directory, 'handbook'));
    cpSync('examples/samples/beekeeping-notes.md', join(directory, 'handbook/bees.md'));
    const { organizationId, workspaceId } = tenant;
    await call(api, tenant, 'PATCH', `/workspaces/${workspaceId}`, { autoProcess: ['document.index'] });
    const { token } = await createKey(api, tenant, { workspaceId });
    const env = { SHEAF_API_KEY: token, SHEAF_WORKSPACE: workspaceId };
    const code = codeOf('Python', 'python').replaceAll('https://api.example.com', api.url);
    const stdout = await completePython(['-c', code], { env, cwd: directory });
    expect(stdout).to.match(/^bees\.md succeeded\nbees\.md .*count the mites/s);
    // The workspace has indexed it by itself: nothing is charged twice.
    const { items } = await call(api, tenant, 'GET', `/organizations/${organizationId}/jobs?workspaceId=${workspaceId}`);
    expect(items.map(({ kind }: { kind: string }) => kind)).to.deep.equal(['document.index']);
  });

  const receivers: Record<string, (code: string, env: Record<string, string>) => Program> = {
    ts: (code, env) => {
      writeFileSync(join(directory, 'receiver.ts'), code);
      return runProgram(process.execPath, [join(directory, 'receiver.ts')], { env });
    },
    python: (code, env) => runPython(['-c', code], { env }),
  };
  for (const [language, start] of Object.entries(receivers))
    it(`verifies webhooks (${language})`, async () => {
      const [port = 0] = await findFreePorts(1);
      const url = `http://127.0.0.1:${port}/hook`;
      const { id, secret } = await addEndpoint(api, tenant, { url });
      const program = start(codeOf('Webhooks', language).replace('4000', String(port)), { WEBHOOK_SECRET: secret });
      const statusOf = async (headers: Record<string, string>) => (await fetch(url, { method: 'POST', headers, body: '{}' })).status;
      await until(() =>
        statusOf({}).then(
          () => true,
          () => false,
        ),
      );
      const forged = {
        'webhook-id': 'one',
        'webhook-timestamp': `${Math.floor(Date.now() / 1000)}`,
        'webhook-signature': 'v1,c2lnbmF0dXJl',
      };
      expect([await statusOf({}), await statusOf(forged)]).to.deep.equal([401, 401]);
      await call(api, tenant, 'POST', `/webhooks/${id}/test`, {});
      const [, type] = await program.printed(/['"]?type['"]?: ['"](\w+\.?\w+)['"]/);
      expect(type).to.equal('webhook.test');
      program.child.kill('SIGKILL');
      await program.exited;
    });
});
