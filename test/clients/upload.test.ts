import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Client, createClient, type Upload } from '../../clients/typescript/index.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { staysTrue } from '../support/stays-true.ts';
import { useApi } from '../support/use-api.ts';
import { type FaultyProxy, startFaultyProxy, tooSlow } from './support/faulty-proxy.ts';
import { refusal } from './support/refusal.ts';

const bytes = new Uint8Array(1_000_000).fill(97);
/** What a store says that takes nothing. */
const refused = { status: 403, headers: {} };

describe('The upload helper', () => {
  const { api, tenant } = useApi();
  let proxy: FaultyProxy;
  let client: Client;
  // Signed targets name the service itself: here they lead through the proxy too.
  const throughProxy: typeof fetch = (input, init) => fetch(typeof input === 'string' ? input.replace(api.url, proxy.url) : input, init);

  before(async () => {
    proxy = await startFaultyProxy(api.url);
    client = createClient({ url: proxy.url, token: tenant.owner.token, retries: { baseDelayMs: 10 }, fetch: throughProxy });
  });
  beforeEach(() => {
    proxy.passed.length = 0;
    proxy.faults = () => undefined;
  });
  after(async () => {
    await proxy.close();
  });

  const puts = () => proxy.passed.filter(({ method }) => method === 'PUT');
  const uploadOf = (file: Upload['file'], more: Partial<Upload> = {}) =>
    client.uploadDocument({ workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', file, ...more });

  async function documents(): Promise<{ id: string; status: string; name: string }[]> {
    const { organizationId, workspaceId } = tenant;
    return (await client.documents.list({ organizationId, workspaceId, limit: 200 })).items;
  }

  async function download(id: string): Promise<Uint8Array> {
    const { url } = await client.documents.downloadUrl({ id });
    return new Uint8Array(await (await fetch(url)).arrayBuffer());
  }

  it('sends bytes, blobs, files and streams, and tells how far it is', async () => {
    const directory = makeTestDirectory();
    writeFileSync(join(directory, 'b.txt'), bytes);
    const sources: [Upload['file'], Partial<Upload>][] = [
      [bytes, {}],
      [bytes.buffer, {}],
      [new Blob([bytes]), {}],
      [new File([bytes], 'named.txt', { type: 'text/plain;charset=utf-8' }), { name: undefined, contentType: undefined }],
      [await openAsBlob(join(directory, 'b.txt')), {}],
      [new Blob([bytes]).stream(), { size: bytes.length }],
      [() => new Blob([bytes]).stream(), { size: bytes.length }],
    ];
    for (const [file, more] of sources) {
      const progress: number[] = [];
      const onProgress: Upload['onProgress'] = ({ sentBytes, totalBytes }) => progress.push(sentBytes / totalBytes);
      const document = await uploadOf(file, { ...more, onProgress });
      expect(document).to.include({ status: 'ready', size: bytes.length, contentType: 'text/plain' });
      expect(document.name).to.equal(file instanceof File ? 'named.txt' : 'a.txt');
      expect(progress.at(-1)).to.equal(1);
      expect(progress.length).to.be.greaterThan(3);
      expect(progress).to.deep.equal([...progress].sort((one, other) => one - other));
      expect(await download(document.id)).to.deep.equal(bytes);
    }
    for (const { headers } of puts()) {
      expect(headers).to.include({ 'content-type': 'text/plain', 'content-length': String(bytes.length) });
      expect(headers).to.not.have.any.keys('authorization', 'cookie', 'transfer-encoding');
    }
    removeTestDirectory(directory);
  });

  it('tells which document has the content of a digest, and sends nothing where that one is the answer', async () => {
    const content = Buffer.from('A content with a digest.');
    const sha256 = createHash('sha256').update(content).digest('hex');
    const told: string[] = [];
    const onDuplicate = ({ id }: { id: string }) => told.push(id);
    const other = await api.createTenant();
    const [place, session] = [{ workspaceId: other.workspaceId }, { token: other.owner.token }];
    const own = createClient({ url: proxy.url, ...session, retries: { baseDelayMs: 10 }, fetch: throughProxy });
    const send = (more: Partial<Upload> = {}) =>
      own.uploadDocument({ ...place, file: content, name: 'a.txt', contentType: 'text/plain', onDuplicate, ...more });
    const first = await send({ sha256 });
    expect([first.sha256, told]).to.deep.equal([sha256, []]);
    await send();
    expect((await send({ sha256 })).id).not.to.equal(first.id);
    expect(told).to.deep.equal([first.id]);
    await own.workspaces.update({ id: other.workspaceId, onDuplicate: 'return' });
    proxy.passed.length = 0;
    expect(await send({ sha256 })).to.include({ id: first.id, status: 'ready' });
    expect(proxy.passed.map(({ method }) => method)).to.deep.equal(['POST']);
    expect(told).to.deep.equal([first.id, first.id]);
    // Whoever gives up before the response withdraws nothing: the document was there before.
    const controller = new AbortController();
    proxy.faults = () => {
      setTimeout(() => controller.abort(), 200);
      return 'lose-answer';
    };
    const slow = createClient({ url: proxy.url, ...session, retries: { baseDelayMs: 1_000 } });
    const given = { ...place, file: content, name: 'a.txt', contentType: 'text/plain', sha256, signal: controller.signal } as const;
    const aborted = await slow.uploadDocument(given).catch((error: Error) => error.name);
    expect(aborted).to.equal('AbortError');
    proxy.faults = () => undefined;
    await until(() => proxy.passed.filter(({ path }) => path.endsWith('/createUpload')).length > 2);
    await staysTrue(() => proxy.passed.every(({ path }) => !path.endsWith('/delete')), 1_000);
    await own.workspaces.update({ id: other.workspaceId, onDuplicate: 'refuse' });
    expect(await send({ sha256 }).catch((error) => error)).to.deep.include({ code: 'CONFLICT', data: { documentId: first.id } });
    expect((await own.documents.get({ id: first.id })).status).to.equal('ready');
    expect(await send({ file: Buffer.from('Another content.'), replaces: first.id })).to.include({ replaces: first.id, status: 'ready' });
  });

  it('sends the bytes again when the connection breaks', async () => {
    proxy.faults = ({ method }) => (method === 'PUT' && puts().length < 3 ? { breakAfterBytes: 100_000 } : undefined);
    const document = await uploadOf(bytes);
    expect(puts()).to.have.length(3);
    expect(await download(document.id)).to.deep.equal(bytes);
  });

  nightly('sends the bytes again when the connection stands still, and waits for those that are slow', async () => {
    const timeoutMs = 2_000;
    const options = { url: proxy.url, token: tenant.owner.token, timeoutMs, fetch: throughProxy };
    const upload = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain' } as const;
    // What is held is the answer, and of more bytes than a connection buffers also the request.
    for (const file of [bytes, new Uint8Array(20_000_000).fill(97)]) {
      proxy.passed.length = 0;
      proxy.faults = ({ method }) => (method === 'PUT' && puts().length === 1 ? 'hold' : undefined);
      const document = await createClient({ ...options, retries: { baseDelayMs: 10 } }).uploadDocument({ ...upload, file });
      expect([document.status, document.size, puts().length]).to.deep.equal(['ready', file.length, 2]);
    }
    proxy.faults = ({ method }) => (method === 'PUT' ? 'hold' : undefined);
    const once = createClient({ ...options, retries: { attempts: 1 } });
    expect(await refusal(once.uploadDocument({ ...upload, file: bytes }))).to.include({ code: 'TIMEOUT', status: 0 });
    proxy.faults = () => undefined;
    let pieces = 0;
    const slow = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, timeoutMs / 5));
        controller.enqueue(new Uint8Array(10).fill(97));
        pieces += 1;
        if (pieces === 7) controller.close();
      },
    });
    expect((await once.uploadDocument({ ...upload, file: slow, size: 70 })).status).to.equal('ready');
    await until(async () => (await documents()).every(({ status }) => status === 'ready'));
  });

  it('sends the bytes again after what a bucket says of itself, and not after what it says of them', async () => {
    for (const status of [408, 409, 429, 500, 503]) {
      proxy.passed.length = 0;
      proxy.faults = ({ method }) => (method === 'PUT' && puts().length === 1 ? { status, headers: {} } : undefined);
      const document = await uploadOf(bytes);
      expect([document.status, puts().length], `${status}`).to.deep.equal(['ready', 2]);
    }
    proxy.passed.length = 0;
    proxy.faults = ({ method }) => (method === 'PUT' && puts().length === 1 ? tooSlow : undefined);
    expect([(await uploadOf(bytes)).status, puts().length], 'RequestTimeout').to.deep.equal(['ready', 2]);
    // An object that the first try finds is not its own.
    for (const status of [400, 403, 412]) {
      proxy.passed.length = 0;
      proxy.faults = ({ method }) => (method === 'PUT' ? { status, headers: {} } : undefined);
      expect(await refusal(uploadOf(bytes))).to.include({ code: `HTTP_${status}`, status });
      expect(puts()).to.have.length(1);
    }
  });

  it('makes one document, whichever answer is lost', async () => {
    const before = (await documents()).length;
    const lost = new Set<string>();
    proxy.faults = ({ method, path }) => {
      const step = `${method} ${path.split('?')[0]}`;
      if (lost.has(step)) return undefined;
      lost.add(step);
      return 'lose-answer';
    };
    const document = await uploadOf(bytes);
    expect(document).to.include({ status: 'ready', size: bytes.length });
    expect([...lost].map((step) => step.split('/').at(-1))).to.deep.equal(['createUpload', document.id, 'complete']);
    proxy.faults = () => undefined;
    expect(await documents()).to.have.length(before + 1);
    expect(await download(document.id)).to.deep.equal(bytes);
  });

  it('cannot read a stream twice, and says so; the document is withdrawn', async () => {
    proxy.faults = ({ method }) => (method === 'PUT' ? 'lose-request' : undefined);
    const error = await refusal(uploadOf(new Blob([bytes]).stream(), { size: bytes.length }));
    expect(error.code).to.equal('NETWORK');
    expect(puts()).to.have.length(1);
    await until(async () => (await documents()).every(({ status }) => status === 'ready'));
  });

  it('refuses a stream that is longer or shorter than was said', async () => {
    for (const size of [bytes.length - 1, bytes.length + 1]) {
      const error = await refusal(uploadOf(() => new Blob([bytes]).stream(), { size }));
      expect(error.code).to.equal('WRONG_SIZE');
    }
    await until(async () => (await documents()).every(({ status }) => status === 'ready'));
  });

  it('ends with what is wrong with the file, sends it once, and withdraws the document', async () => {
    const directory = makeTestDirectory();
    const path = join(directory, 'changing.txt');
    writeFileSync(path, new Uint8Array(5_000_000).fill(97));
    const changing = await openAsBlob(path);
    const onProgress = () => writeFileSync(path, 'shorter');
    const error = await uploadOf(changing, { onProgress }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(DOMException);
    expect((error as DOMException).name).to.equal('NotReadableError');
    const reason = new Error('the disk is broken');
    const failing = () => new ReadableStream<Uint8Array>({ pull: () => Promise.reject(reason) });
    expect(await uploadOf(failing, { size: 10 }).catch((thrown: unknown) => thrown)).to.equal(reason);
    const texts = () => new ReadableStream({ start: (controller) => controller.enqueue('0123456789') });
    expect(await uploadOf(texts, { size: 10 }).catch((thrown: unknown) => thrown)).to.be.instanceOf(TypeError);
    expect(puts().length).to.be.at.most(3);
    await until(async () => (await documents()).every(({ status }) => status === 'ready'));
    removeTestDirectory(directory);
  });

  it("takes another package's Blob, and nothing that is no file", async () => {
    const blob = new Blob([bytes]);
    const other = { size: blob.size, type: 'text/plain', stream: () => blob.stream() } as Blob;
    expect(await download((await uploadOf(other)).id)).to.deep.equal(bytes);
    for (const file of [createReadStream('package.json'), {}, 'notes.md', undefined, null] as unknown as Upload['file'][]) {
      const error = await uploadOf(file).catch((thrown: unknown) => thrown);
      expect(error, String(file)).to.be.instanceOf(TypeError);
      expect((error as TypeError).message, String(file)).to.match(/^The file must be a Blob, bytes/);
    }
  });

  it('knows the type of a file by its name, where the file names none that is taken', async () => {
    const typeOf = async (file: Upload['file'], name?: string) => (await uploadOf(file, { name, contentType: undefined })).contentType;
    // Browsers know no type of Markdown, and those on Windows take CSV for one of Excel.
    expect(await typeOf(new File(['# Mites'], 'Notes.MD'))).to.equal('text/markdown');
    expect(await typeOf(new File(['a,b'], 'table.csv', { type: 'application/vnd.ms-excel' }))).to.equal('text/csv');
    expect(await typeOf(new File(['# Mites'], 'notes.txt', { type: 'text/markdown' }))).to.equal('text/markdown');
    expect(await typeOf(new TextEncoder().encode('mites'), 'notes.txt')).to.equal('text/plain');
    const unknown = await typeOf(new Blob(['mites']), 'notes.xyz').catch((thrown: unknown) => thrown);
    expect((unknown as TypeError).message).to.equal('The upload needs a content type.');
    const refused = await typeOf(new Blob(['mites'], { type: 'video/mp4' }), 'notes.mp4').catch((thrown: unknown) => thrown);
    expect(refused).to.include({ code: 'BAD_REQUEST' });
  });

  it('leaves no document when it is aborted while it is recorded, or when the response to its withdrawal is lost', async () => {
    const before = (await documents()).length;
    const controller = new AbortController();
    const reason = new Error('no longer wanted');
    const { signal } = controller;
    proxy.faults = ({ path }) => {
      if (!path.endsWith('/createUpload')) return undefined;
      setTimeout(() => controller.abort(reason), 200);
      return 'lose-answer';
    };
    const slow = createClient({ url: proxy.url, token: tenant.owner.token, retries: { baseDelayMs: 1_000 } });
    const { workspaceId } = tenant;
    const upload = { workspaceId, name: 'a.txt', contentType: 'text/plain', file: bytes, signal } as const;
    expect(await slow.uploadDocument(upload).catch((thrown: unknown) => thrown)).to.equal(reason);
    proxy.faults = () => undefined;
    await until(() => proxy.passed.some(({ path }) => path.endsWith('/documents/delete')));
    await until(async () => (await documents()).length === before);

    proxy.faults = ({ method, path }) => {
      if (method === 'PUT') return refused;
      return path.endsWith('/delete') && deletions() === 1 ? 'lose-request' : undefined;
    };
    const deletions = () => proxy.passed.filter(({ path }) => path.endsWith('/documents/delete')).length;
    proxy.passed.length = 0;
    expect((await refusal(uploadOf(bytes))).code).to.equal('HTTP_403');
    expect(await documents()).to.have.length(before);
  });

  it('says what the service refuses', async () => {
    expect((await refusal(uploadOf(bytes, { workspaceId: 'none' }))).code).to.equal('NOT_FOUND');
    expect((await refusal(uploadOf(new Uint8Array(0)))).code).to.equal('BAD_REQUEST');
    const tooLarge = await refusal(uploadOf(() => new Blob([]).stream(), { size: 30_000_000 }));
    expect(tooLarge.is('PAYLOAD_TOO_LARGE') && tooLarge.data.maxBytes).to.equal(26_214_400);
    const unsigned: typeof fetch = (input, init) =>
      fetch(typeof input === 'string' ? input.replace(/signature=[^&]+/, 'signature=no') : input, init);
    const forger = createClient({ url: api.url, token: tenant.owner.token, fetch: unsigned });
    const { workspaceId } = tenant;
    const forged = forger.uploadDocument({ workspaceId, name: 'a.txt', contentType: 'text/plain', file: bytes.slice(0, 10) });
    expect(await refusal(forged)).to.include({ code: 'invalid_signature', status: 403 });
    for (const file of [bytes, new Blob([bytes]).stream()])
      expect(await client.uploadDocument({ workspaceId, file }).catch((error: unknown) => error)).to.be.instanceOf(TypeError);
  });

  it('has withdrawn the document when it rejects with a refusal: the caller may exit then', async () => {
    let isWithdrawn = false;
    const watch: typeof fetch = async (input, init) => {
      const response = await fetch(typeof input === 'string' ? input.replace(/signature=[^&]+/, 'signature=no') : input, init);
      if ((input instanceof Request ? input.url : String(input)).endsWith('/rpc/documents/delete')) isWithdrawn = response.ok;
      return response;
    };
    const watched = createClient({ url: api.url, token: tenant.owner.token, fetch: watch });
    const { workspaceId } = tenant;
    expect(await refusal(watched.uploadDocument({ workspaceId, name: 'a.txt', contentType: 'text/plain', file: bytes }))).to.include({
      code: 'invalid_signature',
    });
    expect(isWithdrawn).to.equal(true);
  });

  it('rejects with the refusal in time, also if the document cannot be withdrawn', async () => {
    proxy.faults = ({ method, path }) => {
      if (method === 'PUT') return refused;
      return path.endsWith('/rpc/documents/delete') ? 'mute' : undefined;
    };
    expect(await refusal(uploadOf(bytes))).to.include({ code: 'HTTP_403' });
    const left = (await documents()).filter(({ status }) => status !== 'ready');
    for (const { id } of left) await api.request('DELETE', `/api/v1/documents/${id}`, { token: tenant.owner.token });
  });

  it('ends when it is aborted, and withdraws the document', async () => {
    const controller = new AbortController();
    const reason = new Error('no longer wanted');
    const onProgress = () => controller.abort(reason);
    const error = await uploadOf(bytes, { signal: controller.signal, onProgress }).catch((thrown: unknown) => thrown);
    expect(error).to.equal(reason);
    await until(async () => (await documents()).every(({ status }) => status === 'ready'));
  });

  it('goes on with the same document under the key of its caller, until that is deleted', async () => {
    const before = (await documents()).length;
    const controller = new AbortController();
    const { signal } = controller;
    const keyed = { name: 'keyed.txt', idempotencyKey: 'of the caller' };
    await uploadOf(bytes, { ...keyed, signal, onProgress: () => controller.abort(new Error('enough')) }).catch(() => undefined);
    const [pending] = (await documents()).filter(({ status }) => status !== 'ready');
    expect(pending?.name).to.equal('keyed.txt');
    for (let again = 0; again < 2; again++) expect(await uploadOf(bytes, keyed)).to.include({ id: pending?.id, status: 'ready' });
    expect(await documents()).to.have.length(before + 1);
    await client.documents.delete({ id: pending?.id ?? '' });
    expect((await refusal(uploadOf(bytes, keyed))).status).to.equal(404);
  });

  it('keeps the document of a key that an earlier program has completed, whatever the store says of it now', async () => {
    const keyed = { name: 'complete.txt', idempotencyKey: 'complete' };
    const { id } = await uploadOf(bytes, keyed);
    proxy.faults = ({ method }) => (method === 'PUT' ? refused : undefined);
    expect((await refusal(uploadOf(bytes, keyed))).status).to.equal(403);
    proxy.faults = () => undefined;
    expect(await client.documents.get({ id })).to.include({ status: 'ready' });
  });

  it('keeps the document of a key after a refusal that passes, and not after another', async () => {
    const refuseWith = (status: number, last: string) => {
      proxy.faults = ({ method, path }) => ([method, path.split('/').at(-1)].includes(last) ? { status, headers: {} } : undefined);
    };
    const passing: [number, string][] = [...[409, 429, 507].map((status): [number, string] => [status, 'PUT']), [502, 'complete']];
    for (const [status, last] of passing) {
      const keyed = { name: `${last}-${status}.txt`, idempotencyKey: `${last} ${status}` };
      refuseWith(status, last);
      expect((await refusal(uploadOf(bytes, keyed))).status).to.equal(status);
      proxy.faults = () => undefined;
      const kept = (await documents()).find(({ name }) => name === keyed.name);
      expect(kept?.status, keyed.name).to.equal('pending');
      expect(await uploadOf(bytes, keyed)).to.include({ id: kept?.id, status: 'ready' });
    }
    const keyed = { name: 'refused.txt', idempotencyKey: 'refused' };
    refuseWith(403, 'PUT');
    expect((await refusal(uploadOf(bytes, keyed))).status).to.equal(403);
    proxy.faults = () => undefined;
    expect((await documents()).map(({ name }) => name)).to.not.include(keyed.name);
    expect((await refusal(uploadOf(bytes, keyed))).status).to.equal(404);
  });

  it('leaves no document when it is aborted while it is completed, though the service has done so', async () => {
    const before = (await documents()).length;
    const controller = new AbortController();
    const reason = new Error('no longer wanted');
    proxy.faults = ({ path }) => {
      if (!path.endsWith('/complete')) return undefined;
      setTimeout(() => controller.abort(reason), 100);
      return 'mute';
    };
    expect(await uploadOf(bytes, { signal: controller.signal }).catch((thrown: unknown) => thrown)).to.equal(reason);
    await until(async () => (await documents()).length === before);
  });
});
