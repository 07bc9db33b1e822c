import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { LocalStorage } from '../../adapters/storage/local.ts';
import { createKey, type KeyOptions, type TestKey } from '../support/api-keys.ts';
import { until } from '../support/processes.ts';
import { expectOk } from '../support/requests.ts';
import { noteTokens } from '../support/run-secrets.ts';
import { useApi } from '../support/use-api.ts';

const reading = ['ask_documents', 'get_document', 'list_documents', 'list_workspaces', 'search_documents'];
const text = 'The mirrors are washed with deionised water every month. The dome opens at dusk.';

/** How a client chooses a revision of the protocol. The conformance suite asks by both. */
const modes = { '2025-11-25': 'legacy', '2026-07-28': { pin: '2026-07-28' } } as const;

describe('The MCP server', () => {
  const { api, tenant } = useApi({ env: { MCP_WRITE: 'true' } });
  let documentId: string;
  let beside: { workspaceId: string; documentId: string };
  const clients: Client[] = [];

  before(async () => {
    documentId = (await api.upload(tenant, { name: 'mirrors.txt', bytes: text })).id;
    const { token } = tenant.owner;
    const body = { organizationId: tenant.organizationId, name: 'Beside', slug: 'beside' };
    const { body: workspace } = await expectOk(api.request('POST', '/api/v1/workspaces', { token, body }));
    const other = await api.upload({ ...tenant, workspaceId: workspace.id }, { name: 'secret.txt', bytes: 'The safe opens at noon.' });
    beside = { workspaceId: workspace.id, documentId: other.id };
    await index(documentId);
  });
  after(async () => {
    for (const client of clients) await client.close();
  });

  async function index(id: string, { owner: { token } } = tenant): Promise<void> {
    const { body } = await expectOk(api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId: id } }));
    await api.jobIn(token, body.id, ['succeeded']);
  }

  async function connect(key: Pick<TestKey, 'token'>, mode: (typeof modes)[keyof typeof modes] = modes['2026-07-28']): Promise<Client> {
    noteTokens(key.token);
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: `Bearer ${key.token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { requestInit }));
    clients.push(client);
    return client;
  }
  const connectWith = async (options?: KeyOptions) => connect(await createKey(api, tenant, options));

  /** What a tool gives: its structure, or the text of its error. */
  async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<any> {
    const result = (await client.callTool({ name, arguments: args })) as any;
    return result.isError ? { error: result.content[0].text } : result.structuredContent;
  }

  for (const [revision, mode] of Object.entries(modes))
    it(`speaks revision ${revision}, and describes its tools by schemas`, async () => {
      const client = await connect(await createKey(api, tenant), mode);
      expect(client.getServerCapabilities()?.tools?.listChanged, 'no list that changes').to.equal(false);
      expect(client.getNegotiatedProtocolVersion()).to.equal(revision);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name).sort()).to.deep.equal([...reading, 'create_job', 'upload_document'].sort());
      for (const { name, inputSchema, annotations } of tools) {
        expect(inputSchema, name).to.include({ type: 'object' });
        expect(annotations?.readOnlyHint, name).to.equal(reading.includes(name));
      }
      const search = tools.find(({ name }) => name === 'search_documents');
      expect(search?.inputSchema.properties?.query).to.include({ type: 'string', maxLength: 1_000 });
    });

  it('searches with citations, lists, and reads a part at a time', async () => {
    const client = await connectWith();
    const { workspaces } = await call(client, 'list_workspaces');
    expect(workspaces.map(({ slug }: { slug: string }) => slug)).to.deep.equal(['beside', 'main']);
    const { workspaceId } = tenant;
    const { results } = await call(client, 'search_documents', { workspaceId, query: 'washing mirrors', mode: 'lexical' });
    expect(results[0]).to.include({ documentId, documentName: 'mirrors.txt' });
    expect(results[0].citation).to.include({ page: null, start: 0 });
    const answer = await call(client, 'ask_documents', { workspaceId, question: 'How often are the mirrors washed?', mode: 'lexical' });
    const [{ citations }] = answer.sentences;
    expect(citations[0]).to.include({ documentId, start: 0, quote: 'The mirrors are washed with deionised water every month.' });
    const leaning = { workspaceId, question: 'And when at the earliest?', mode: 'lexical' };
    expect((await call(client, 'ask_documents', leaning)).nothingFound, 'without the conversation').to.equal(true);
    const continued = await call(client, 'ask_documents', { ...leaning, conversation: ['When does the dome open?'] });
    expect(continued.sentences[0].text).to.equal('The dome opens at dusk.');
    const filter = { tags: ['none'] };
    expect((await call(client, 'search_documents', { workspaceId, query: 'mirrors', filter })).results).to.deep.equal([]);
    const { documents } = await call(client, 'list_documents', { workspaceId });
    expect(documents.map(({ id }: { id: string }) => id)).to.deep.equal([documentId]);
    const first = await call(client, 'get_document', { documentId, characters: 11 });
    expect(first).to.include({ text: 'The mirrors', nextStart: 11, page: null });
    const rest = await call(client, 'get_document', { documentId, start: first.nextStart });
    expect(rest).to.include({ text: text.slice(11), nextStart: null, nextPage: null });
  });

  it('lists no more at once than the official client for Python reads in one event', async () => {
    const large = await api.createTenant();
    const { workspaceId } = large;
    const metadata = { note: '"'.repeat(8_000) };
    const names = Array.from({ length: 30 }, (_, index) => `${index}.txt`);
    for (const name of names) {
      const body = { workspaceId, name, contentType: 'text/plain', size: 1, metadata };
      await expectOk(api.request('POST', '/api/v1/documents', { token: large.owner.token, body }));
    }
    const client = await connect(await createKey(api, large));
    const listed: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const result: any = await client.callTool({
        name: 'list_documents',
        arguments: { workspaceId, limit: 100, ...(cursor && { cursor }) },
      });
      expect(Buffer.byteLength(JSON.stringify(result))).to.be.below(2 ** 20);
      listed.push(...result.structuredContent.documents.map(({ name }: { name: string }) => name));
      cursor = result.structuredContent.nextCursor ?? undefined;
      pages += 1;
    } while (cursor);
    expect(listed.sort()).to.deep.equal(names.sort());
    expect(pages).to.be.within(2, 4);
  });

  it('lists documents in the order that a call names, also from page to page', async () => {
    const own = await api.createTenant();
    const { workspaceId } = own;
    for (const name of ['b.txt', 'c.txt', 'a.txt']) {
      const body = { workspaceId, name, contentType: 'text/plain', size: 1 };
      await expectOk(api.request('POST', '/api/v1/documents', { token: own.owner.token, body }));
    }
    const client = await connect(await createKey(api, own));
    const list = async (input: object) => {
      const { documents, nextCursor } = await call(client, 'list_documents', { workspaceId, ...input });
      return { names: documents.map(({ name }: { name: string }) => name[0]).join(''), cursor: nextCursor };
    };
    expect(await list({})).to.include({ names: 'acb' });
    expect(await list({ sort: 'name' })).to.include({ names: 'abc' });
    const first = await list({ sort: '-name', limit: 2 });
    expect(first.names).to.equal('cb');
    expect(await list({ sort: '-name', cursor: first.cursor })).to.include({ names: 'a' });
    expect((await call(client, 'list_documents', { workspaceId, sort: 'color' })).error).to.match(/sort/);
  });

  it('says what is wrong with a call, so that the model can do better', async () => {
    const client = await connectWith();
    expect((await call(client, 'list_documents')).error).to.match(/^BAD_REQUEST: Name a workspace/);
    expect((await call(client, 'get_document', { documentId: 'none' })).error).to.match(/^NOT_FOUND: /);
  });

  it('says how much of a document there is, if a call asks for what there is not', async () => {
    const own = await api.createTenant();
    const client = await connect(await createKey(api, own));
    const bytes = readFileSync('docs/examples/samples/observatory-handbook.pdf');
    const { id: handbook } = await api.upload(own, { contentType: 'application/pdf', bytes });
    const { id: note } = await api.upload(own, { bytes: text });
    const read = async (id: string, place: object) => await call(client, 'get_document', { documentId: id, ...place });
    expect(await read(handbook, { page: 6 }), 'before it was extracted').to.include({ text: null });
    for (const id of [handbook, note]) await index(id, own);
    expect((await read(handbook, { page: 5 })).page).to.equal(5);
    expect((await read(handbook, { page: 6 })).error).to.equal('NOT_FOUND: There is no page 6: the document has 5 pages.');
    expect((await read(note, { page: 1 })).error).to.equal('NOT_FOUND: There is no page 1: the document has no pages.');
    expect(await read(note, { start: text.length })).to.include({ text: '', nextStart: null });
    expect((await read(note, { start: 99 })).error).to.equal(`BAD_REQUEST: start: must be at most ${text.length}, the length of the text`);
  });

  it('refuses an argument that a tool does not have', async () => {
    const client = await connectWith();
    const { tools } = await client.listTools();
    for (const { name, inputSchema } of tools) {
      expect(inputSchema.additionalProperties, name).to.equal(false);
      expect((await call(client, name, { workspace: 'nope' })).error, name).to.match(/workspace/);
    }
  });

  it('shows a key of one workspace that one only', async () => {
    const client = await connectWith({ workspaceId: tenant.workspaceId });
    const { workspaces } = await call(client, 'list_workspaces');
    expect(workspaces.map(({ id }: { id: string }) => id)).to.deep.equal([tenant.workspaceId]);
    expect((await call(client, 'list_documents')).documents).to.have.length(1);
    expect((await call(client, 'search_documents', { query: 'mirrors', mode: 'lexical' })).results).to.have.length(1);
    for (const [name, args] of [
      ['list_documents', { workspaceId: beside.workspaceId }],
      ['search_documents', { workspaceId: beside.workspaceId, query: 'safe' }],
      ['ask_documents', { workspaceId: beside.workspaceId, question: 'When does the safe open?' }],
      ['get_document', { documentId: beside.documentId }],
      ['create_job', { kind: 'document.extract', documentId: beside.documentId }],
      ['upload_document', { workspaceId: beside.workspaceId, name: 'a.txt', contentType: 'text/plain', text: 'a' }],
    ] as const)
      expect((await call(client, name, args)).error, name).to.match(/^FORBIDDEN: /);
  });

  it('names the permission that a key lacks, for each tool', async () => {
    const client = await connectWith({ permissions: ['workspace:read'] });
    expect((await call(client, 'list_workspaces')).workspaces).to.have.length(2);
    const { workspaceId } = tenant;
    for (const [name, args, permission] of [
      ['search_documents', { workspaceId, query: 'mirrors' }, 'document:read'],
      ['ask_documents', { workspaceId, question: 'How are mirrors washed?' }, 'document:read'],
      ['list_documents', { workspaceId }, 'document:read'],
      ['get_document', { documentId }, 'document:read'],
      ['upload_document', { workspaceId, name: 'a.txt', contentType: 'text/plain', text: 'a' }, 'document:create'],
      ['create_job', { kind: 'document.index', documentId }, 'job:create'],
    ] as const)
      expect((await call(client, name, args)).error).to.equal(
        `FORBIDDEN: This needs the permission ${permission}, which this API key or who is responsible for it does not have.`,
      );
  });

  it('uploads a document and has it worked on, as the key', async () => {
    const key = await createKey(api, tenant, { workspaceId: tenant.workspaceId });
    const client = await connect(key);
    const upload = {
      name: 'tides.md',
      contentType: 'text/markdown',
      base64: Buffer.from('# Tides\n\nHigh water is at six.').toString('base64'),
    };
    const { document } = await call(client, 'upload_document', upload);
    expect(document).to.include({ status: 'ready', uploadedBy: key.id, size: 30 });
    const { job } = await call(client, 'create_job', { kind: 'document.index', documentId: document.id });
    expect(job.createdBy).to.equal(key.id);
    await api.jobIn(tenant.owner.token, job.id, ['succeeded']);
    const again = await call(client, 'create_job', { kind: 'document.index', documentId: document.id });
    expect(again.job.id, 'an agent that asks twice pays once').to.equal(job.id);
    const { results } = await call(client, 'search_documents', { query: 'high water', mode: 'lexical' });
    expect(results[0].documentId).to.equal(document.id);
  });

  it('refuses a text that is no Unicode, and stores nothing', async () => {
    const client = await connectWith();
    const { workspaceId } = tenant;
    const file = { workspaceId, name: 'half.txt', contentType: 'text/plain', text: 'half \ud83d of a sign' };
    const { error } = await call(client, 'upload_document', file).catch((thrown: Error) => ({ error: thrown.message }));
    expect(error).to.include('must be well-formed Unicode');
    const { documents } = await call(client, 'list_documents', { workspaceId });
    expect(documents.map(({ name }: { name: string }) => name)).to.not.include('half.txt');
  });

  it('uploads a text in another charset, which counts for its bytes only', async () => {
    const client = await connectWith();
    const upload = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', charset: 'windows-1251' };
    const base64 = Buffer.from('\xc7\xe0\xe1\xee\xf0', 'latin1').toString('base64');
    expect((await call(client, 'upload_document', { ...upload, base64 })).document.charset).to.equal('windows-1251');
    expect((await call(client, 'upload_document', { ...upload, text: 'Забор' })).document.charset).to.equal(null);
  });

  it('leaves nothing of an upload whose client has left', async () => {
    const own = await api.createTenant();
    const { token } = await createKey(api, own);
    noteTokens(token);
    const { write } = LocalStorage.prototype;
    const [leaving, written] = [new AbortController(), Promise.withResolvers<void>()];
    LocalStorage.prototype.write = async function (...args) {
      leaving.abort();
      await written.promise;
      return write.apply(this, args);
    };
    try {
      const args = { workspaceId: own.workspaceId, name: 'late.txt', contentType: 'text/plain', text: 'Too late.' };
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'upload_document', arguments: args } };
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      };
      const request = { method: 'POST', headers, body: JSON.stringify(body), signal: leaving.signal };
      expect(await fetch(`${api.url}/mcp`, request).catch(({ name }: Error) => name)).to.equal('AbortError');
    } finally {
      LocalStorage.prototype.write = write;
    }
    const names = async () => {
      const documents = api.database.db.selectFrom('document').select('name').where('organization_id', '=', own.organizationId);
      return (await documents.execute()).map(({ name }) => name);
    };
    expect(await names()).to.deep.equal(['late.txt']);
    await until(async () => /"operation":"mcp".*"status":"aborted"/.test(api.stack.readLog('api')));
    written.resolve();
    await until(async () => (await names()).length === 0, 10_000);
  });

  it('takes many calls of one organization at once', async () => {
    const client = await connectWith();
    const found = await Promise.all(Array.from({ length: 30 }, () => call(client, 'get_document', { documentId })));
    for (const each of found) expect(each.text).to.equal(text);
  });

  it('refuses who has no key, or one that has ended, as clients expect it', async () => {
    const ended = await createKey(api, tenant);
    await expectOk(api.request('DELETE', `/api/v1/api-keys/${ended.id}`, { token: tenant.owner.token }));
    for (const token of [undefined, 'no.token', tenant.owner.token, ended.token]) {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const { status, headers } = await api.request('POST', '/mcp', { ...(token && { token }), body });
      expect(status).to.equal(401);
      expect(headers.get('www-authenticate')).to.match(/^Bearer /);
    }
  });

  it('refuses a batch, whose calls would count as one request', async () => {
    const { token } = await createKey(api, tenant);
    const headers = { accept: 'application/json, text/event-stream' };
    const body = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));
    expect((await api.request('POST', '/mcp', { token, headers, body })).status).to.equal(400);
    expect((await api.request('POST', '/mcp', { token, headers, body: body[0] })).status).to.equal(200);
  });

  it('counts for the key, and lets in one that never expires', async () => {
    const key = await createKey(api, tenant, { requestsPerMinute: 2, expiresInDays: null });
    const ask = () => api.request('GET', '/mcp', { token: key.token });
    expect([(await ask()).status, (await ask()).status, (await ask()).status]).to.deep.equal([405, 405, 429]);
  });
});

describe('The MCP server, if the disk of the documents is full', () => {
  const NODE_OPTIONS = '--import=./test/lab/drill/hooks/fill-disk.ts';
  const { api, tenant } = useApi({ env: { MCP_WRITE: 'true', WORKER_ENABLED: 'false', NODE_OPTIONS } });

  it('refuses an upload as the service does, for a later try, and tells the operator', async () => {
    const { token } = await createKey(api, tenant);
    const client = new Client({ name: 'test', version: '1.0.0' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { requestInit }));
    const { workspaceId } = tenant;
    const upload = { workspaceId, name: 'a.txt', contentType: 'text/plain', text: 'No room.' };
    const { isError, content } = (await client.callTool({ name: 'upload_document', arguments: upload })) as any;
    expect([isError, content[0].text]).to.deep.equal([true, 'storage_full: The store of documents is full. Try again later.']);
    await until(async () => api.stack.readLog('api').includes('the disk of the stored documents is full'));
    const left = (await client.callTool({ name: 'list_documents', arguments: { workspaceId } })) as any;
    expect(left.structuredContent.documents, 'which would count against the quota').to.deep.equal([]);
    await client.close();
  });
});

describe('The MCP server without MCP_WRITE', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' } });

  it('has no tool that changes anything', async () => {
    const { token } = await createKey(api, tenant);
    const client = new Client({ name: 'test', version: '1.0.0' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { requestInit }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).to.deep.equal(reading);
    await client.close();
  });

  it('names no issuer of tokens where no provider is configured', async () => {
    const { status, headers } = await api.request('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } });
    expect(status).to.equal(401);
    expect(headers.get('www-authenticate')).to.not.include('resource_metadata');
    const metadata = await fetch(`${api.url}/.well-known/oauth-protected-resource/mcp`, { headers: { accept: 'application/json' } });
    expect(metadata.status).to.equal(404);
  });
});
