import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { documents } from '../../../contract/documents.ts';
import { webhooksOn } from '../../adapters/webhooks/support.ts';
import { totp } from '../../api/auth/support/totp.ts';
import { createKey } from '../../support/api-keys.ts';
import { startReceiver } from '../../support/receiver.ts';
import { expectOk } from '../../support/requests.ts';
import { noteText, noteTokens } from '../../support/run-secrets.ts';
import { useApi } from '../../support/use-api.ts';
import { asOwner, type Cli, createCli, startProgram } from './support.ts';

describe('The command line', () => {
  const { api, tenant } = useApi({ env: webhooksOn, check: 'at the end' });
  let cli: Cli;
  const inMain = ['--workspace', 'main'];

  before(() => {
    cli = createCli(asOwner(api, tenant));
  });
  after(() => cli.remove());

  describe('without the environment', () => {
    let plain: Cli;
    const file = () => join(plain.directory, 'config/sheaf/credentials.json');

    before(() => {
      plain = createCli();
    });
    after(() => plain.remove());

    it('says that nobody is signed in', async () => {
      const { code, stdout, stderr } = await plain.run(['usage']);
      expect({ code, stdout }).to.deep.equal({ code: 3, stdout: '' });
      expect(stderr).to.match(/^Error: Not signed in: run `sheaf login`/);
    });

    it('says that a token which is no key names no organization', async () => {
      const mistyped = createCli({ SHEAF_URL: api.url, SHEAF_API_KEY: '"sheaf_' });
      const { code, stderr } = await mistyped.run(['workspaces', 'list']);
      mistyped.remove();
      expect(code).to.equal(2);
      expect(stderr).to.match(/^Error: Which organization\? .* begins with sheaf_\.\n$/);
    });

    it('stores a key that is good, where only its user reads it', async () => {
      const key = await createKey(api, tenant, { permissions: ['workspace:read', 'document:read'] });
      const changed = key.token.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'));
      const login = ['login', '--url', api.url, '--json'];
      expect(await plain.run(login, { stdin: `${changed}\n` })).to.include({ code: 3 });
      expect(await plain.run(login)).to.include({ code: 2 });
      expect(existsSync(file())).to.equal(false);
      const split = await plain.run(['login', '--url', api.url], { stdin: `${key.token.slice(0, 20)} ${key.token.slice(20)}\n` });
      expect(split.code).to.equal(2);
      expect(split.stderr).to.equal('Error: token must not be empty, nor have blanks or line breaks within it.\n');
      // Without a line break at the end, as of `printf`.
      const { code, json } = await plain.run(login, { stdin: key.token });
      expect(code).to.equal(0);
      const { organizationId } = tenant;
      expect(json[0]).to.include({ url: api.url, organizationId });
      expect(json[0].key).to.deep.include({ id: key.id, workspaceId: null, permissions: ['workspace:read', 'document:read'] });
      expect(statSync(file()).mode & 0o777).to.equal(0o600);
      expect(statSync(join(file(), '..')).mode & 0o777).to.equal(0o700);
      expect(await plain.run(['documents', 'list', ...inMain])).to.include({ code: 0 });
      // The key may not: that is another exit code than a mistake.
      expect(await plain.run(['documents', 'delete', 'none'])).to.include({ code: 1 });
      expect(await plain.run(['keys', 'list'])).to.include({ code: 3 });
    });

    it('works where its key does, without being told', async () => {
      const own = await api.createTenant();
      const { workspaceId } = own;
      const permissions = ['workspace:read', 'document:read', 'document:create', 'job:read', 'billing:read'] as const;
      const as = (key: { token: string }) => ({ env: { SHEAF_URL: api.url, SHEAF_API_KEY: key.token } });
      const inWorkspace = as(await createKey(api, own, { permissions, workspaceId }));
      const file = join(plain.directory, 'own.md');
      writeFileSync(file, '# Own\nSent to the only workspace of the key.');
      const sent = await plain.run(['upload', file, '--json'], inWorkspace);
      expect(sent.code, sent.stderr).to.equal(0);
      const [document] = (await plain.run(['documents', 'list', '--json'], inWorkspace)).json;
      expect(document).to.include({ id: sent.json[0].documentId, workspaceId });
      expect(await plain.run(['jobs', 'list'], inWorkspace)).to.include({ code: 0, stdout: '' });
      expect((await plain.run(['workspaces', 'list'], inWorkspace)).stdout).to.equal(`${workspaceId}  ${'main'.padEnd(20)}  Main\n`);
      const everywhere = as(await createKey(api, own, { permissions }));
      const unclear = await plain.run(['upload', file], everywhere);
      expect(unclear).to.include({ code: 2, stdout: '' });
      expect(unclear.stderr).to.match(/^Error: Which workspace\?/);
      expect(await plain.run(['usage'], everywhere)).to.include({ code: 0 });
    });

    it('lets the environment win, and never sends the stored key to another service', async () => {
      const elsewhere = await startReceiver();
      const { code, stderr } = await plain.run(['usage'], { env: { SHEAF_URL: elsewhere.url } });
      expect(code).to.equal(3);
      expect(stderr).to.match(/There is no key for/);
      expect(elsewhere.received).to.deep.equal([]);
      await elsewhere.stop();
      // The same service, in another spelling.
      expect(await plain.run(['documents', 'list', ...inMain], { env: { SHEAF_URL: `${api.url}/` } })).to.include({ code: 0 });
      const other = await api.createTenant();
      const { json } = await plain.run(['jobs', 'list', '--json'], { env: asOwner(api, other) });
      expect(json).to.deep.equal([]);
      // The stored organization is that of the stored key.
      const bare = await plain.run(['usage'], { env: { SHEAF_API_KEY: other.owner.token } });
      expect(bare).to.include({ code: 2 });
    });

    it('signs a user in and out', async () => {
      const login = ['login', '--url', api.url, '--organization', tenant.organizationId, '--email', tenant.owner.email];
      expect(await plain.run(login, { stdin: 'not the password\n' })).to.include({ code: 3 });
      expect(await plain.run(login, { stdin: 'a long password\n' })).to.include({ code: 0 });
      const { token } = JSON.parse(readFileSync(file(), 'utf8'));
      noteTokens(token);
      expect(await plain.run(['keys', 'list'])).to.include({ code: 0 });
      expect((await plain.run(['logout'])).stdout).to.match(/^Removed /);
      expect(existsSync(file())).to.equal(false);
      expect((await api.request('GET', '/api/v1/me', { token })).status).to.equal(401);
      expect((await plain.run(['logout'])).stdout).to.equal('Nothing was stored.\n');
    });

    it('leads a user with two-factor, whose code it does not ask for, to a key', async () => {
      const { email, token } = await api.signUp();
      const post = (path: string, body: object) => expectOk(api.request('POST', `/api/auth/two-factor/${path}`, { token, body }));
      const { totpURI, backupCodes } = (await post('enable', { password: 'a long password' })).body;
      noteTokens(new URL(totpURI).searchParams.get('secret') ?? '', ...backupCodes);
      await post('verify-totp', { code: totp(totpURI) });
      const { code, stderr } = await plain.run(['login', '--url', api.url, '--email', email], { stdin: 'a long password\n' });
      expect(code).to.equal(3);
      expect(stderr).to.match(/^Error: This user has two-factor, .* Make an API key/);
      expect(existsSync(file())).to.equal(false);
    });
  });

  it('has an exit code of its own for a limit that is reached, and ends without a stack if its output cannot be stored', async () => {
    const limited = await api.createTenant();
    const { workspaceId: id, owner } = limited;
    await expectOk(api.request('PATCH', `/api/v1/workspaces/${id}`, { token: owner.token, body: { creditBudget: 0 } }));
    const env = asOwner(api, limited);
    const { code, stderr } = await cli.run(['ask', 'Who keeps the light?', '--workspace', 'main'], { env });
    expect([code, stderr.split(':', 2)[1]]).to.deep.equal([6, ' LIMIT_REACHED']);
    const full = startProgram('sh', ['-c', `${process.execPath} clients/typescript/cli/main.ts workspaces list > /dev/full`], env);
    const ended = await full.ended;
    expect(ended.stderr).to.match(/^Error: What was found cannot be written: ENOSPC.*\n$/);
  });

  it('waits for the jobs of what it uploads, says which document, which job of it failed and why, and exits 5', async () => {
    const own = await api.createTenant();
    const env = asOwner(api, own);
    const folder = join(cli.directory, 'waiting');
    mkdirSync(folder);
    noteText('The lamp is lit at dusk.');
    writeFileSync(join(folder, 'good.txt'), 'The lamp is lit at dusk.');
    writeFileSync(join(folder, 'broken.pdf'), 'This is no PDF.');
    expect(await cli.run(['upload', folder, '--workspace', 'main', '--wait'], { env })).to.include({ code: 2 });
    const { code, json } = await cli.run(['upload', folder, '--workspace', 'main', '--index', '--wait', '--json'], { env });
    expect(code).to.equal(5);
    expect(json.pop()).to.deep.equal({ uploaded: 2, unchanged: 0, skipped: 0, failed: 0, failedJobs: 1 });
    const broken = json.find(({ error }) => error);
    expect(broken).to.include({ path: join(folder, 'broken.pdf'), status: 'uploaded' });
    expect(broken.error.message).to.match(new RegExp(`^document\\.index failed \\(job ${broken.jobId}\\): .`));
    writeFileSync(join(folder, 'empty.md'), '');
    const again = await cli.run(['upload', folder, '--workspace', 'main', '--index', '--wait'], { env });
    expect(again.code).to.equal(5);
    const lines = json.map(({ documentId, path }) => `${documentId}  already there  ${path}`);
    expect(again.stdout.trimEnd().split('\n').sort()).to.deep.equal([...lines, '0 uploaded, 2 already there, 1 skipped, 0 failed.'].sort());
    expect(again.stderr)
      .to.match(/empty\.md: skipped, it is empty$/m)
      .and.match(/broken\.pdf: document\.index failed \(job [0-9a-f-]{36}\): .*$/m)
      .and.match(/^Error: The jobs of 1 of 3 files did not succeed\.$/m);
    const { stdout } = await cli.run(['documents', 'list', '--workspace', 'main'], { env });
    expect(stdout)
      .to.match(/ {2}failed {2}.* {2}broken\.pdf {2}document\.index failed: ./)
      .and.to.match(/ {2}indexed .* {2}good\.txt\n/);
    const [{ id }] = (await cli.run(['documents', 'list', '--workspace', 'main', '--json'], { env })).json.filter(
      ({ name }) => name === 'broken.pdf',
    );
    const [, why] = broken.error.message.split('): ');
    expect((await cli.run(['documents', 'get', id], { env })).stdout).to.include(`document.index failed: ${why}`);
  });

  it('uploads, indexes, watches, searches, reads and deletes', async () => {
    const text = '# Bees\nCount the varroa mites under the hive.';
    noteText(text);
    writeFileSync(join(cli.directory, 'bees.md'), text);
    expect((await cli.run(['upload', join(cli.directory, 'bees.md'), ...inMain, '--index'])).stdout).to.match(
      /^[0-9a-f-]{36} {2}uploaded {2}.*bees\.md\n1 uploaded, 0 already/,
    );
    const [job] = (await cli.run(['jobs', 'list', '--json'])).json;
    const watched = await cli.run(['jobs', 'watch', job.id, '--json']);
    expect(watched.code, watched.stderr).to.equal(0);
    expect(watched.json.at(-1)).to.include({ id: job.id, status: 'succeeded' });
    const found = await cli.run(['search', 'varroa mites', ...inMain, '--mode', 'lexical']);
    expect(found.stdout).to.match(/^1\. bees\.md › Bees\n {3}[0-9a-f-]{36}\n {3}.*Count the varroa mites/s);
    const { json } = await cli.run(['search', 'varroa', ...inMain, '--limit', '1', '--json']);
    expect(json[0]).to.include({ rank: 1, documentName: 'bees.md' });
    const asked = await cli.run(['ask', 'How are varroa mites counted?', ...inMain, '--mode', 'lexical']);
    expect(asked).to.include({ code: 0, stderr: '' });
    expect(asked.stdout).to.equal(
      'Count the varroa mites under the hive.\n   bees.md › Bees: “Count the varroa mites under the hive.”\n\n',
    );
    const [answer] = (await cli.run(['ask', 'How are varroa mites counted?', ...inMain, '--json'])).json;
    expect(answer).to.include({ withheld: 0, nothingFound: false, extractive: true });
    expect(answer.sentences[0].citations[0]).to.include({
      documentName: 'bees.md',
      start: 7,
      quote: 'Count the varroa mites under the hive.',
    });
    const nothing = await cli.run(['ask', 'zebras', ...inMain, '--mode', 'lexical', '--tag', 'none']);
    expect(nothing).to.include({ code: 0, stdout: '', stderr: 'Nothing was found.\n' });
    const [document] = (await cli.run(['documents', 'list', ...inMain, '--json'])).json;
    expect((await cli.run(['documents', 'list', ...inMain])).stdout).to.equal(
      `${document.id}  indexed  ${String(text.length).padStart(10)}  bees.md\n`,
    );
    expect((await cli.run(['documents', 'get', document.id])).stdout).to.match(/^name {6}bees\.md$/m);
    expect((await cli.run(['documents', 'get', document.id, '--text'])).stdout).to.include('varroa mites');
    expect((await cli.run(['documents', 'delete', document.id, '--json'])).json).to.deep.equal([{ id: document.id }]);
    const gone = await cli.run(['documents', 'get', document.id, '--json']);
    expect(gone).to.include({ code: 1, stdout: '' });
    expect(JSON.parse(gone.stderr).error).to.include({ code: 'NOT_FOUND', status: 404 });
  });

  it('lists documents in each order of the service', async () => {
    const own = await api.createTenant();
    const run = (...args: string[]) => cli.run(['documents', 'list', ...inMain, ...args], { env: asOwner(api, own) });
    for (const [name, text] of [
      ['b.txt', 'A text.'],
      ['c.txt', 'The longest text.'],
      ['a.txt', 'A longer text.'],
    ] as const)
      await api.upload(own, { name, bytes: text });
    const orders = { createdAt: 'bca', '-createdAt': 'acb', name: 'abc', '-name': 'cba', size: 'bac', '-size': 'cab' };
    expect(Object.keys(orders)).to.have.members(documents.list.query.shape.sort.unwrap().options);
    for (const [sort, expected] of Object.entries(orders))
      for (const more of [[], ['--limit', '2']]) {
        const { json, stderr } = await run('--sort', sort, '--json', ...more);
        expect(json.map(({ name }) => name[0]).join(''), `${sort} ${stderr}`).to.equal(expected.slice(0, Number(more[1] ?? 3)));
      }
    const { code, stderr } = await run('--sort', 'color');
    expect(code).to.equal(2);
    expect(stderr).to.match(/Allowed choices are createdAt, -createdAt, name, -name, size, -size/);
  });

  it('watches until jobs have ended, exits 5 if one failed, and retries it', async () => {
    const { id } = await api.upload(tenant, { name: 'a.pdf', contentType: 'application/pdf', bytes: 'this is no document of the kind' });
    const body = { kind: 'document.extract', documentId: id, maxAttempts: 1 };
    const { body: job } = await api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body });
    const { code, stdout, stderr } = await cli.run(['jobs', 'watch', job.id]);
    expect(code).to.equal(5);
    expect(stdout).to.match(/failed {5}document\.extract {2}\w+: /);
    expect(stderr).to.match(/1 of 1 jobs did not succeed/);
    const [again] = (await cli.run(['jobs', 'retry', job.id, '--json'])).json;
    expect(again.input.retryOf).to.equal(job.id);
    expect((await cli.run(['jobs', 'retry', again.documentId])).code).to.equal(1);
    await api.jobIn(tenant.owner.token, again.id, ['failed']);
    const failed = (await cli.run(['jobs', 'list', '--status', 'failed', '--limit', '1', '--json'])).json;
    expect(failed.map((one) => one.id)).to.deep.equal([again.id]);
  });

  it('goes on after an id that is refused, and exits 5', async () => {
    const own = await api.createTenant();
    const env = asOwner(api, own);
    const [first, last] = [await api.upload(own, { name: 'a.txt', bytes: 'a' }), await api.upload(own, { name: 'b.txt', bytes: 'b' })];
    const deleted = await cli.run(['documents', 'delete', first.id, first.id, last.id], { env });
    expect(deleted).to.include({ code: 5, stdout: `Deleted ${first.id}.\nDeleted ${last.id}.\n` });
    expect(deleted.stderr).to.match(new RegExp(`^${first.id}: NOT_FOUND: .*\\nError: 1 of 3 were not deleted\\.\\n$`));
    const retried = await cli.run(['jobs', 'retry', first.id, last.id, '--json'], { env });
    expect(retried).to.include({ code: 5, stdout: '' });
    const errors = retried.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).error);
    expect(errors.map(({ id, code }) => [id, code])).to.deep.equal([
      [first.id, 'NOT_FOUND'],
      [last.id, 'NOT_FOUND'],
      [undefined, 'FAILED'],
    ]);
    const notAllowed = await cli.run(['documents', 'delete', first.id, last.id], { env: { ...env, SHEAF_API_KEY: 'no.key' } });
    expect(notAllowed.code).to.equal(3);
  });

  it('ends at once if a job to be watched is not there', async () => {
    const begun = Date.now();
    const watched = await cli.run(['jobs', 'watch', '00000000-0000-4000-8000-000000000000']);
    expect(watched).to.include({ code: 1, stdout: '' });
    expect(watched.stderr).to.match(/^Error: NOT_FOUND: /);
    expect(Date.now() - begun).to.be.below(20_000);
  });

  it('makes, rotates and revokes keys; stdout has nothing but the secret', async () => {
    const options = ['--permission', 'document:read', '--permission', 'job:read', '--days', 'never', ...inMain];
    const made = await cli.run(['keys', 'create', 'Nightly import', ...options]);
    const secret = made.stdout.trim();
    noteTokens(secret);
    expect(secret, made.stderr).to.match(/^sheaf_[0-9A-Za-z]{38}$/);
    const [key] = (await cli.run(['keys', 'list', '--json'])).json.filter(({ name }) => name === 'Nightly import');
    expect(key).to.deep.include({ workspaceId: tenant.workspaceId, permissions: ['document:read', 'job:read'], expiresAt: null });
    expect(made.stderr).to.include(key.id);
    const rotated = (await cli.run(['keys', 'rotate', key.id, '--overlap-seconds', '0'])).stdout.trim();
    noteTokens(rotated);
    const read = (token: string) =>
      cli.run(['documents', 'list', ...inMain.slice(0, 1), tenant.workspaceId], { env: { SHEAF_API_KEY: token } });
    expect((await read(secret)).code).to.equal(3);
    expect((await read(rotated)).code).to.equal(0);
    expect(await cli.run(['keys', 'revoke', 'key_none', key.id])).to.include({ code: 5, stdout: `Revoked ${key.id}.\n` });
    expect((await read(rotated)).code).to.equal(3);
  });

  it('adds, tests and deletes webhook endpoints', async () => {
    const receiver = await startReceiver();
    const made = await cli.run([
      'webhooks',
      'create',
      receiver.url,
      '--event',
      'job.failed',
      '--event',
      'job.succeeded',
      '--description',
      'Test',
    ]);
    noteTokens(made.stdout.trim().slice('whsec_'.length));
    expect(made.stdout, made.stderr).to.match(/^whsec_/);
    const [endpoint] = (await cli.run(['webhooks', 'list', '--json'])).json;
    expect(endpoint).to.deep.include({ url: receiver.url, events: ['job.failed', 'job.succeeded'], description: 'Test' });
    const [delivery] = (await cli.run(['webhooks', 'test', endpoint.id, '--json'])).json;
    const sent = await cli.run(['webhooks', 'deliveries', '--endpoint', endpoint.id]);
    expect(sent.stdout).to.match(new RegExp(`^${delivery.id}  .*  webhook\\.test$`, 'm'));
    const resent = await cli.run(['webhooks', 'resend', 'none', delivery.id, '--json']);
    expect([resent.code, resent.json.map(({ id }) => id)]).to.deep.equal([5, [delivery.id]]);
    const deleted = await cli.run(['webhooks', 'delete', 'none', endpoint.id]);
    expect(deleted).to.include({ code: 5, stdout: `Deleted ${endpoint.id}.\n` });
    await receiver.stop();
  });

  it('shows usage, in words and as JSON', async () => {
    const { stdout } = await cli.run(['usage']);
    expect(stdout).to.match(
      /^plan {8}none: nothing is limited\ncredits {5}\d+ until \d{4}-.*\nworkspaces {2}1\nmembers {5}1, and 0 invited\n$/,
    );
    expect((await cli.run(['usage', '--by', 'kind', '--days', '1'])).stdout).to.match(
      /\d+ held by unfinished jobs, searches and answers\n$/,
    );
    expect((await cli.run(['usage', '--json'])).json[0].usage).to.include({ workspaces: 1, members: 1 });
  });

  it('tells a mistake, a refusal and a service that is not there apart', async () => {
    const wrong = [
      'upload',
      'uplod',
      'search x',
      'jobs list --limit 0',
      'jobs list --limit x',
      'jobs list --status done',
      'usage --by day',
    ];
    // The last is what the service does not understand.
    for (const line of [...wrong, 'usage --by key --days 32']) expect((await cli.run(line.split(' '))).code, line).to.equal(2);
    expect((await cli.run(['jobs', 'list', '--status', 'done'])).stderr).to.match(/Allowed choices are queued, running, succeeded/);
    const { stderr } = await cli.run(['jobs', 'list', '--limit', '0', '--json']);
    expect(JSON.parse(stderr).error.message).to.match(/must be a whole number of at least 1/);
    expect((await cli.run(['--help'])).stdout).to.match(/^Usage: sheaf .*Exit codes:/s);
    expect((await cli.run(['--version'])).stdout.trim()).to.equal(
      JSON.parse(readFileSync('clients/typescript/package.json', 'utf8')).version,
    );
    expect((await cli.run(['search', 'x', ...inMain], { env: { SHEAF_URL: 'http://127.0.0.1:9' } })).code).to.equal(4);
    expect((await cli.run(['usage'], { env: { SHEAF_API_KEY: 'none' } })).code).to.equal(3);
  });

  it('completes commands, options and choices, by a script for each shell', async () => {
    const complete = async (line: string) => (await cli.run(['complete', '--', ...line.split(' ')])).stdout.trimEnd().split('\n');
    expect(await complete(''))
      .to.include.members(['upload', 'jobs', 'completion'])
      .and.not.include('complete');
    expect(await complete('jobs ')).to.include.members(['list', 'watch', 'retry']);
    expect(await complete('jobs list --')).to.include.members(['--status', '--organization', '--json']);
    expect(await complete('jobs list --status '))
      .to.include.members(['queued', 'failed'])
      .and.not.include('--json');
    expect(await complete('upload --workspace ')).to.deep.equal(['']);
    expect(await complete('completion ')).to.deep.equal(['bash', 'zsh', 'fish']);
    const { stdout: script } = await cli.run(['completion', 'bash']);
    const tab = `sheaf() { '${process.execPath}' clients/typescript/cli/main.ts "$@"; }
${script}
COMP_WORDS=(sheaf jobs l) COMP_CWORD=2; _sheaf; echo "\${COMPREPLY[@]}"`;
    expect((await startProgram('bash', ['-c', tab], {}).ended).stdout).to.equal('list\n');
    for (const shell of ['zsh', 'fish']) expect((await cli.run(['completion', shell])).stdout).to.include('sheaf complete -- ');
    expect((await cli.run(['completion', 'csh'])).code).to.equal(2);
  });

  describe('on a terminal', () => {
    const onTerminal = (args: string[], env: Record<string, string | undefined> = {}) => {
      const quoted = [process.execPath, 'clients/typescript/cli/main.ts', ...args].map((arg) => `'${arg}'`).join(' ');
      const whole = { XDG_CONFIG_HOME: join(cli.directory, 'config'), ...asOwner(api, tenant), TERM: 'xterm', NO_COLOR: undefined, ...env };
      return startProgram('script', ['-qec', quoted, '/dev/null'], whole).ended;
    };
    const escapes = '\u001b[';

    it('shows colors and progress, and no colors with NO_COLOR', async () => {
      const folder = join(cli.directory, 'many');
      mkdirSync(folder);
      for (let i = 0; i < 30; i++) writeFileSync(join(folder, `${i}.md`), `# ${i}\nOne of many, number ${i}.`);
      const sent = await onTerminal(['upload', folder, ...inMain, '--index']);
      expect(sent.stdout)
        .to.include(`${escapes}2K`)
        .and.to.match(/\d+ of 30 files, \d\.\d MB/);
      expect(sent.stdout).to.match(/30 uploaded, 0 already there/);
      expect((await onTerminal(['jobs', 'list'])).stdout).to.include(escapes);
      expect((await onTerminal(['jobs', 'list'], { NO_COLOR: '1' })).stdout).not.to.include(escapes);
      expect((await cli.run(['jobs', 'list'])).stdout).not.to.include(escapes);
    });

    it('lets no name of a file command the terminal', async () => {
      const folder = join(cli.directory, 'hostile');
      mkdirSync(folder);
      writeFileSync(join(folder, 'a \u001b]0;renamed\u0007 window.md'), 'A text.');
      const { stdout } = await onTerminal(['upload', folder, ...inMain]);
      expect(stdout).to.include('a ]0;renamed window.md: BAD_REQUEST').and.not.include('\u001b]');
    });
  });
});
