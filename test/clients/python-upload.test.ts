import { createHash } from 'node:crypto';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createKey } from '../support/api-keys.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { nightly } from '../support/nightly.ts';
import { type Program, until } from '../support/processes.ts';
import { expectOk } from '../support/requests.ts';
import { useApi } from '../support/use-api.ts';
import { type FaultyProxy, startFaultyProxy, tooSlow } from './support/faulty-proxy.ts';
import { type PythonKind, pythonKinds, pythonProgram, runPython } from './support/python-client.ts';

const largeBytes = 60_000_000;
const smallText = 'a'.repeat(1_000_000);
const smallHash = createHash('sha256').update(smallText).digest('hex');

interface Uploaded {
  result: Record<string, unknown>;
  sent: number[];
  tookKb: number;
}

describe('Uploads by the Python client', () => {
  const { api, tenant } = useApi({ env: { MAX_UPLOAD_BYTES: String(largeBytes) }, tenant: 'of each test' });
  let directory: string;
  let proxy: FaultyProxy;
  let token: string;
  let small: string;
  let large: string;

  before(async () => {
    directory = makeTestDirectory();
    [small, large] = [join(directory, 'small.md'), join(directory, 'large.txt')];
    writeFileSync(small, smallText);
    writeFileSync(large, 'Begin. ');
    truncateSync(large, largeBytes);
    proxy = await startFaultyProxy(api.url);
  });
  beforeEach(async () => {
    proxy.passed.length = 0;
    proxy.faults = () => undefined;
    ({ token } = await createKey(api, tenant));
  });
  after(async () => {
    removeTestDirectory(directory);
    await proxy.close();
  });

  const puts = () => proxy.passed.filter(({ method }) => method === 'PUT');

  function start(upload: object, kind: PythonKind = 'sync'): Program {
    const env = { SHEAF_URL: proxy.url, SERVICE_URL: api.url, SHEAF_API_KEY: token, WORKSPACE: tenant.workspaceId };
    return runPython(['-c', pythonProgram('upload', kind), JSON.stringify({ path: small, ...upload })], { env });
  }

  async function ended(program: Program): Promise<Uploaded> {
    expect(await program.exited, program.stderr()).to.deep.equal({ code: 0, signal: null });
    expect(program.stderr()).to.equal('');
    return JSON.parse(program.stdout().trimEnd().split('\n').at(-1) ?? '');
  }

  const upload = async (options: object = {}, kind?: PythonKind) => await ended(start(options, kind));

  async function documents(): Promise<{ id: string; status: string }[]> {
    const path = `/api/v1/workspaces/${tenant.workspaceId}/documents?organizationId=${tenant.organizationId}`;
    return (await api.request('GET', path, { token: tenant.owner.token })).body.items;
  }

  async function storedHash(id: unknown): Promise<string> {
    const { url } = (await api.request('GET', `/api/v1/documents/${id}/download-url`, { token: tenant.owner.token })).body;
    const hash = createHash('sha256');
    for await (const piece of (await fetch(url)).body ?? []) hash.update(piece);
    return hash.digest('hex');
  }

  for (const kind of pythonKinds) {
    nightly(`sends a large file with progress and little memory (${kind})`, async () => {
      const { result, sent, tookKb } = await upload({ path: large }, kind);
      expect(result).to.include({ name: 'large.txt', contentType: 'text/plain', size: largeBytes, status: 'ready' });
      expect(sent.at(-1)).to.equal(largeBytes);
      expect(sent.length).to.be.greaterThan(500);
      expect(sent).to.deep.equal([...sent].sort((one, other) => one - other));
      expect(tookKb * 1024).to.be.lessThan(largeBytes / 3);
      const expected = createHash('sha256')
        .update('Begin. ')
        .update(Buffer.alloc(largeBytes - 7));
      expect(await storedHash(result.id)).to.equal(expected.digest('hex'));
    });

    it(`sends the bytes again when the connection breaks (${kind})`, async () => {
      proxy.faults = ({ method }) => (method === 'PUT' && puts().length < 3 ? { breakAfterBytes: 100_000 } : undefined);
      const { result } = await upload({}, kind);
      expect(puts()).to.have.length(3);
      expect(await storedHash(result.id)).to.equal(smallHash);
      for (const { headers } of puts()) {
        expect(headers).to.include({ 'content-type': 'text/markdown', 'content-length': '1000000' });
        expect(headers).to.not.have.any.keys('authorization', 'cookie', 'transfer-encoding');
      }
    });

    it(`makes one document, whichever answer is lost (${kind})`, async () => {
      const lost = new Set<string>();
      proxy.faults = ({ method, path }) => {
        const step = `${method} ${path.split('?')[0]?.split('/').at(-1)}`;
        if (lost.has(step)) return undefined;
        lost.add(step);
        return 'lose-answer';
      };
      const { result } = await upload({ tags: ['one'], metadata: { year: 2026 }, charset: 'gbk' }, kind);
      expect(result).to.deep.include({ size: 1_000_000, status: 'ready', tags: ['one'], metadata: { year: 2026 }, charset: 'gbk' });
      expect([...lost]).to.deep.equal(['POST documents', `PUT ${result.id}`, 'POST complete']);
      expect(await documents()).to.have.length(1);
    });
  }

  for (const kind of pythonKinds)
    it(`leaves no document when it is ended by Ctrl-C (${kind})`, async () => {
      proxy.faults = ({ method }) => (method === 'PUT' ? 'mute' : undefined);
      const program = start({}, kind);
      await program.printed(/begun/);
      await until(() => puts().length > 0);
      expect(await documents()).to.have.length(1);
      program.child.kill('SIGINT');
      await program.exited;
      expect(program.stderr()).to.match(/^KeyboardInterrupt$/m);
      expect(await documents()).to.deep.equal([]);
    });

  for (const [when, fault] of [
    ['while it sent the bytes', { breakAfterBytes: 500_000 }],
    ['before it had the answer of the store', 'mute'],
  ] as const)
    nightly(`goes on with the same document after its program was killed ${when}`, async () => {
      const options = { idempotency_key: 'import-1' };
      proxy.faults = ({ method }) => (method === 'PUT' ? fault : undefined);
      const killed = start(options);
      await killed.printed(/begun/);
      await until(() => puts().length > 0);
      killed.child.kill('SIGKILL');
      await killed.exited;
      const [first] = await documents();
      expect(first?.status).to.equal('pending');
      proxy.faults = () => undefined;
      const { result } = await upload(options);
      expect(result).to.include({ id: first?.id, status: 'ready' });
      expect(await documents()).to.have.length(1);
    });

  it('sends nothing if the workspace answers the document that has the content of a digest', async () => {
    const first = await upload({ sha256: smallHash });
    expect(first.result).to.include({ status: 'ready', sha256: smallHash });
    const body = { onDuplicate: 'return' };
    await expectOk(api.request('PATCH', `/api/v1/workspaces/${tenant.workspaceId}`, { token: tenant.owner.token, body }));
    const again = await upload({ sha256: smallHash });
    expect(again).to.deep.include({ result: first.result, sent: [] });
    expect(puts()).to.have.length(1);
    await expectOk(
      api.request('PATCH', `/api/v1/workspaces/${tenant.workspaceId}`, { token: tenant.owner.token, body: { onDuplicate: 'allow' } }),
    );
    expect((await upload({ replaces: first.result.id })).result).to.include({ replaces: first.result.id, status: 'ready' });
    expect((await upload({ sha256: smallHash.replace(/^./, 'x') })).result).to.deep.equal({ code: 'BAD_REQUEST', status: 400 });
  });

  it('takes bytes, open files, and pipes with their size', async () => {
    const ways = [
      { as: 'bytes', name: 'note.txt' },
      { as: 'file' },
      { as: 'pipe', name: 'note.txt', content_type: 'text/markdown', size: 1_000_000 },
    ];
    const found: unknown[] = [];
    for (const way of ways) {
      const { result } = await upload(way);
      found.push([result.name, result.contentType]);
      expect(await storedHash(result.id), way.as).to.equal(smallHash);
    }
    const named = [
      ['note.txt', 'text/plain'],
      ['small.md', 'text/markdown'],
      ['note.txt', 'text/markdown'],
    ];
    expect(found).to.deep.equal(named);
  });

  it('sends the bytes again that a bucket has not got in time, and tells what else it says by its status', async () => {
    proxy.faults = ({ method }) => (method === 'PUT' && puts().length === 1 ? tooSlow : undefined);
    expect((await upload({})).result).to.include({ status: 'ready' });
    const body = JSON.stringify({ error: { code: 403, message: 'Forbidden' } });
    proxy.faults = ({ method }) => (method === 'PUT' ? { status: 403, headers: {}, body } : undefined);
    expect((await upload({})).result).to.deep.equal({ code: 'HTTP_403', status: 403 });
  });

  it('keeps the document of a key after a refusal that passes, and not after another', async () => {
    for (const status of [429, 507]) {
      const options = { idempotency_key: `${status}` };
      proxy.faults = ({ method }) => (method === 'PUT' ? { status, headers: {} } : undefined);
      expect((await upload(options)).result).to.deep.equal({ code: `HTTP_${status}`, status });
      proxy.faults = () => undefined;
      const [kept] = (await documents()).filter((document) => document.status === 'pending');
      expect((await upload(options)).result, `${status}`).to.include({ id: kept?.id, status: 'ready' });
    }
    const options = { idempotency_key: 'refused' };
    proxy.faults = ({ method }) => (method === 'PUT' ? { status: 403, headers: {} } : undefined);
    expect((await upload(options)).result).to.deep.equal({ code: 'HTTP_403', status: 403 });
    proxy.faults = () => undefined;
    expect(await documents()).to.have.length(2);
    expect((await upload(options)).result).to.include({ status: 404 });
  });

  it('keeps the document of a key that an earlier program has completed, whatever the store says of it now', async () => {
    const options = { idempotency_key: 'complete' };
    const { result } = await upload(options);
    proxy.faults = ({ method }) => (method === 'PUT' ? { status: 403, headers: {} } : undefined);
    expect((await upload(options)).result).to.deep.equal({ code: 'HTTP_403', status: 403 });
    expect((await documents()).map(({ id, status }) => [id, status])).to.deep.equal([[result.id, 'ready']]);
  });

  it('leaves no document when it is refused, or the file is not as long as declared', async () => {
    proxy.faults = ({ method }) => (method === 'PUT' ? { status: 403, headers: {} } : undefined);
    expect((await upload()).result).to.deep.equal({ code: 'HTTP_403', status: 403 });
    expect(puts()).to.have.length(1);
    proxy.faults = () => undefined;
    for (const size of [10, 1_000_001]) expect((await upload({ size })).result).to.deep.equal({ code: 'WRONG_SIZE', status: 0 });
    expect(await documents()).to.deep.equal([]);
  });

  it('says what is wrong before anything is recorded', async () => {
    expect((await upload({ path: join(directory, 'none.txt') })).result).to.deep.equal({ code: 'FileNotFoundError' });
    for (const way of [{ as: 'bytes' }, { as: 'text' }, { as: 'pipe', name: 'a.txt' }, { name: 'a.exe' }])
      expect((await upload(way)).result).to.deep.equal({ code: 'ValueError' });
    expect(proxy.passed).to.deep.equal([]);
    truncateSync(large, largeBytes + 1);
    expect((await upload({ path: large })).result).to.deep.equal({ code: 'PAYLOAD_TOO_LARGE', status: 413 });
    expect(await documents()).to.deep.equal([]);
  });
});
