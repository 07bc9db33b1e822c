import { randomUUID } from 'node:crypto';
import { Client, discoverOAuthServerInfo, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import type { JWTPayload } from 'jose';
import type { Answer, Tenant, TestUser } from '../support/api.ts';
import { createKey } from '../support/api-keys.ts';
import { expectOk } from '../support/requests.ts';
import { noteTokens } from '../support/run-secrets.ts';
import { startTokenIssuer, type TokenIssuer } from '../support/token-issuer.ts';
import { useApi } from '../support/use-api.ts';

/** The conformance suite of test/api/mcp-conformance.test.ts asks by the earlier one, too. */
const revision = '2026-07-28';

describe('The MCP server with an OpenID Connect provider', () => {
  let issuer: TokenIssuer;
  const { api, tenant } = useApi({ env: startProvider });
  let second: Tenant;
  let user: TestUser;
  const clients: Client[] = [];

  async function startProvider() {
    issuer = await startTokenIssuer();
    const provider = { PROVIDER_B_ISSUER: issuer.issuer, PROVIDER_B_CLIENT_ID: 'sheaf', PROVIDER_B_CLIENT_SECRET: 'a-secret' };
    return { ...provider, MCP_WRITE: 'true', WORKER_ENABLED: 'false' };
  }
  before(async () => {
    second = await api.createTenant();
    user = await linkedUser();
    for (const { organizationId } of [tenant, second]) await api.addMember(organizationId, user, 'member');
  });
  after(async () => {
    for (const client of clients) await client.close();
    await issuer.stop();
  });

  /** A user who has signed in with the provider, whose account there has the same id. The row is as better-auth writes it. */
  async function linkedUser(): Promise<TestUser> {
    const made = await api.signUp();
    const account = { id: randomUUID(), providerId: 'provider_b', accountId: made.id, userId: made.id };
    await api.database.db.insertInto('account').values(account).execute();
    return made;
  }

  async function tokenOf({ id }: Pick<TestUser, 'id'>, claims: JWTPayload = {}): Promise<string> {
    const token = await issuer.sign({ sub: id, aud: `${api.url}/mcp`, ...claims });
    noteTokens(token);
    return token;
  }

  /** A request as a client sends it. */
  function send(token: string | undefined, method: string, params: object = {}): Promise<Answer> {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const { name } = params as { name?: string };
    const headers = {
      ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': revision, 'mcp-method': method },
      ...(name && { 'mcp-name': name }),
    };
    return api.request('POST', '/mcp', { token, headers, body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } } });
  }

  async function connect(token: string): Promise<Client> {
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: { pin: revision } } });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { requestInit }));
    clients.push(client);
    return client;
  }

  async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<any> {
    const result = (await client.callTool({ name, arguments: args })) as any;
    return result.isError ? { error: result.content[0].text } : result.structuredContent;
  }

  it('answers 503 while the provider does not respond; keys go on', async function () {
    this.timeout(30_000);
    const key = await createKey(api, tenant);
    const token = await tokenOf(user);
    issuer.state = 'silent';
    const startedAt = performance.now();
    const [refused, served] = await Promise.all([
      send(token, 'tools/list'),
      send(key.token, 'tools/list').then(({ status }) => ({ status, ms: performance.now() - startedAt })),
    ]);
    expect(refused.status).to.equal(503);
    expect(refused.headers.get('retry-after')).to.equal('5');
    expect(performance.now() - startedAt).to.be.below(10_000);
    expect(served.status).to.equal(200);
    expect(served.ms, 'a key does not wait for the provider').to.be.below(4_500);
    issuer.state = 'up';
    expect((await send(token, 'tools/list')).status).to.equal(200);
  });

  it('tells clients where tokens come from', async () => {
    const { status, headers } = await send(undefined, 'tools/list');
    expect(status).to.equal(401);
    const metadataUrl = `${api.url}/.well-known/oauth-protected-resource/mcp`;
    expect(headers.get('www-authenticate')).to.match(/^Bearer /);
    expect(headers.get('www-authenticate')).to.include(`resource_metadata="${metadataUrl}"`).and.include('scope="mcp:read"');
    const found = await discoverOAuthServerInfo(`${api.url}/mcp`, { resourceMetadataUrl: new URL(metadataUrl) });
    expect(found.resourceMetadata).to.deep.include({
      resource: `${api.url}/mcp`,
      authorization_servers: [issuer.issuer],
      scopes_supported: ['mcp:read', 'mcp:write'],
    });
    expect(found.authorizationServerMetadata?.authorization_endpoint).to.equal(`${issuer.issuer}/authorize`);
  });

  it('does for a user what they may do, in each of their organizations', async () => {
    const client = await connect(await tokenOf(user, { scope: 'mcp:read mcp:write' }));
    const { workspaces } = await call(client, 'list_workspaces');
    expect(workspaces.map(({ id }: { id: string }) => id).sort()).to.deep.equal([tenant.workspaceId, second.workspaceId].sort());
    for (const { workspaceId, organizationId, owner } of [tenant, second]) {
      const upload = { workspaceId, name: 'tide.txt', contentType: 'text/plain', text: 'The tide turns at six.' };
      const { document } = await call(client, 'upload_document', upload);
      expect(document).to.include({ status: 'ready', uploadedBy: user.id, organizationId });
      const { documents } = await call(client, 'list_documents', { workspaceId });
      expect(documents[0].id).to.equal(document.id);
      const { job } = await call(client, 'create_job', { kind: 'document.extract', documentId: document.id });
      expect(job).to.include({ createdBy: user.id });
      const { body } = await expectOk(api.request('GET', `/api/v1/organizations/${organizationId}/audit-log`, { token: owner.token }));
      const entry = body.entries.find(({ targetId }: { targetId: string }) => targetId === document.id);
      expect(entry).to.include({ actorId: user.id, actorEmail: user.email });
    }
    expect((await call(client, 'list_documents')).error).to.match(/^BAD_REQUEST: Name a workspace/);
    expect((await call(client, 'list_documents', { workspaceId: 'none' })).error).to.match(/^NOT_FOUND: /);
  });

  it('asks for the scope that a tool needs', async () => {
    const read = await tokenOf(user);
    const { workspaceId } = tenant;
    const upload = { workspaceId, name: 'a.txt', contentType: 'text/plain', text: 'a' };
    for (const [name, args] of [
      ['upload_document', upload],
      ['create_job', { kind: 'document.extract', documentId: 'none' }],
    ] as const) {
      const { status, headers } = await send(read, 'tools/call', { name, arguments: args });
      expect(status, name).to.equal(403);
      const challenge = headers.get('www-authenticate');
      expect(challenge).to.include('error="insufficient_scope"').and.include('scope="mcp:read mcp:write"');
      expect(challenge).to.include('/.well-known/oauth-protected-resource/mcp"').and.include(`${name} needs the scope`);
    }
    expect((await send(read, 'tools/call', { name: 'list_documents', arguments: { workspaceId } })).status).to.equal(200);
    for (const scope of ['', 'openid', 'mcp:write', 'MCP:READ', 'mcp:read,mcp:write']) {
      const { status, headers } = await send(await tokenOf(user, { scope }), 'tools/list');
      expect(status, scope).to.equal(403);
      expect(headers.get('www-authenticate')).to.include('error="insufficient_scope"').and.include('scope="mcp:read"');
    }
  });

  it('refuses a token that is not for it, or no longer good', async () => {
    const now = Math.floor(Date.now() / 1_000);
    for (const claims of [{ aud: api.url }, { aud: 'sheaf' }, { iss: 'https://elsewhere.example.com' }, { exp: now - 1 }]) {
      const { status, headers } = await send(await tokenOf(user, claims), 'tools/list');
      expect(status, JSON.stringify(claims)).to.equal(401);
      expect(headers.get('www-authenticate')).to.include('error="invalid_token"').and.include('resource_metadata=');
    }
  });

  it('refuses at once who is removed, banned, or has a second factor, and whom it does not know', async () => {
    const { db } = api.database;
    const other = await linkedUser();
    await api.addMember(tenant.organizationId, other, 'admin');
    const client = await connect(await tokenOf(other, { scope: 'mcp:read mcp:write' }));
    const inTenant = () => call(client, 'list_documents', { workspaceId: tenant.workspaceId });
    expect((await inTenant()).documents).to.be.an('array');
    expect((await call(client, 'list_documents', { workspaceId: second.workspaceId })).error).to.match(/^FORBIDDEN: /);
    await db.deleteFrom('member').where('userId', '=', other.id).execute();
    expect((await inTenant()).error).to.match(/^FORBIDDEN: /);
    expect((await call(client, 'list_workspaces')).workspaces).to.deep.equal([]);

    const ask = async (id: string) => (await send(await tokenOf({ id }), 'tools/list')).status;
    expect(await ask(other.id)).to.equal(200);
    for (const [change, back] of [
      [{ banned: true }, { banned: false }],
      [{ twoFactorEnabled: true }, { twoFactorEnabled: false }],
    ]) {
      await db
        .updateTable('user')
        .set(change as object)
        .where('id', '=', other.id)
        .execute();
      expect(await ask(other.id), JSON.stringify(change)).to.equal(403);
      await db
        .updateTable('user')
        .set(back as object)
        .where('id', '=', other.id)
        .execute();
    }
    expect(await ask(other.id)).to.equal(200);
    await db.deleteFrom('account').where('accountId', '=', other.id).where('providerId', '=', 'provider_b').execute();
    expect(await ask(other.id)).to.equal(403);
    expect(await ask(tenant.owner.id), 'of a user with a password alone').to.equal(403);
  });

  it('is all that takes such a token', async () => {
    const token = await tokenOf(user, { scope: 'mcp:read mcp:write' });
    const { organizationId } = tenant;
    expect((await api.request('GET', `/api/v1/workspaces?organizationId=${organizationId}`, { token })).status).to.equal(401);
    expect((await api.request('GET', '/api/v1/me', { token })).status).to.equal(401);
    expect((await api.rpc('workspaces.list', { organizationId }, { token })).status).to.equal(401);
    expect((await api.request('GET', '/api/auth/get-session', { token })).status).to.equal(401);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const chat = await fetch(`${api.url}/api/v1/chat/completions`, { method: 'POST', headers, body: '{"model":"a","messages":[]}' });
    expect(chat.status).to.equal(401);
  });
});
