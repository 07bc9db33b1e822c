import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { findFreePorts } from '../../ops/local/ports.ts';
import { addEndpoint, call, webhooksOn } from '../adapters/webhooks/support.ts';
import { asOwner, createCli } from '../clients/cli/support.ts';
import { runPython } from '../clients/support/python-client.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { type Program, runProgram, until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

const page = readFileSync('docs/integrations.md', 'utf8');

/** The code of a section in one language. */
function codeOf(section: string, language: string): string {
  const [text = ''] = new RegExp(`^## ${section}$.*?(?=^## )`, 'ms').exec(page) ?? [];
  const [, code = ''] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(text) ?? [];
  return code;
}

describe('A receiver and programs of docs/integrations.md', () => {
  const { api, tenant } = useApi({ env: webhooksOn });
  let directory: string;

  before(() => {
    directory = makeTestDirectory();
    symlinkSync(resolve('node_modules'), join(directory, 'node_modules'));
  });
  after(() => removeTestDirectory(directory));

  const receivers: Record<string, (code: string, env: Record<string, string>) => Program> = {
    ts: (code, env) => {
      writeFileSync(join(directory, 'receiver.ts'), code);
      return runProgram(process.execPath, [join(directory, 'receiver.ts')], { env });
    },
    python: (code, env) => runPython(['-c', code], { env }),
  };
  const statusOf = async (url: string, headers: Record<string, string> = {}) =>
    (await fetch(url, { method: 'POST', headers, body: '{}' })).status;

  /** Starts the receiver of the page in one language, at an endpoint that `add` adds. */
  async function receive<E extends { secret: string }>(language: string, add: (url: string) => Promise<E>) {
    const [port = 0] = await findFreePorts(1);
    const url = `http://127.0.0.1:${port}/hook`;
    const endpoint = await add(url);
    const code = codeOf('Webhooks', language).replace('4000', String(port));
    const program = receivers[language]?.(code, { WEBHOOK_SECRET: endpoint.secret }) as Program;
    await until(() =>
      statusOf(url).then(
        () => true,
        () => false,
      ),
    );
    return { url, endpoint, program };
  }

  for (const language of Object.keys(receivers))
    it(`verifies webhooks (${language})`, async () => {
      const { url, endpoint, program } = await receive(language, (url) => addEndpoint(api, tenant, { url }));
      const forged = {
        'webhook-id': 'one',
        'webhook-timestamp': `${Math.floor(Date.now() / 1000)}`,
        'webhook-signature': 'v1,c2lnbmF0dXJl',
      };
      expect([await statusOf(url), await statusOf(url, forged)]).to.deep.equal([401, 401]);
      await call(api, tenant, 'POST', `/webhooks/${endpoint.id}/test`, {});
      const [, type] = await program.printed(/['"]?type['"]?: ['"](\w+\.?\w+)['"]/);
      expect(type).to.equal('webhook.test');
      program.child.kill('SIGKILL');
      await program.exited;
    });

  it('is enough for a program that has a key of one workspace', async () => {
    const other = await api.createTenant();
    const cli = createCli(asOwner(api, other));
    const beside = await call(api, other, 'POST', '/workspaces', { organizationId: other.organizationId, name: 'Beside', slug: 'beside' });
    const permissions = ['document:read', 'document:create', 'job:create', 'workspace:read'].flatMap((each) => ['--permission', each]);
    const [key] = (await cli.run(['keys', 'create', 'Import', '--workspace', 'main', ...permissions, '--json'])).json;
    const events = ['document.ready', 'job.succeeded'].flatMap((each) => ['--event', each]);
    const add = async (url: string) => (await cli.run(['webhooks', 'create', url, ...events, '--json'])).json[0];
    const programs = await Promise.all(Object.keys(receivers).map(async (language) => (await receive(language, add)).program));

    const files = 25;
    mkdirSync(join(directory, 'notes'));
    for (let n = 0; n < files; n++)
      writeFileSync(join(directory, `notes/${n}.md`), `# Hive ${n}\n\nCount the mites of hive ${n} in May.\n`);
    const env = { SHEAF_API_KEY: key.secret, SHEAF_ORGANIZATION: undefined };
    const uploaded = await cli.run(['upload', join(directory, 'notes'), '--index', '--json'], { env });
    expect(uploaded.code, uploaded.stderr).to.equal(0);
    const received = ({ stdout }: Program) =>
      new Set([...stdout().matchAll(/type'?: '([\w.]+)'.*?documentId'?: '([\w-]+)'/gs)].map(([, type, id]) => `${type} ${id}`));
    for (const program of programs) await until(() => received(program).size === 2 * files, 120_000);

    writeFileSync(join(directory, 'search.ts'), codeOf('MCP', 'ts'));
    const search = runProgram(process.execPath, [join(directory, 'search.ts')], { env: { SHEAF_URL: api.url, SHEAF_API_KEY: key.secret } });
    expect(await search.exited, search.stderr()).to.deep.equal({ code: 0, signal: null });
    expect(search.stdout()).to.match(/Count the mites of hive \d+ in May\./);
    const refused = await cli.run(['search', 'mites', '--workspace', beside.id], { env });
    expect(refused.code).to.equal(3);
    expect(refused.stderr).to.match(/^Error: FORBIDDEN: /);
    for (const { child, exited } of programs) {
      child.kill('SIGKILL');
      await exited;
    }
    cli.remove();
  });
});
