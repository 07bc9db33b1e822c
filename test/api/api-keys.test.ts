import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import { keysPerOrganization } from '../../contract/api-keys.ts';
import type { Answer, TestUser } from '../support/api.ts';
import { createKey, type KeyOptions } from '../support/api-keys.ts';
import { listAuthEndpoints } from '../support/auth-endpoints.ts';
import { openJobStream } from '../support/event-stream.ts';
import { expectOk } from '../support/requests.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

describe('API keys', () => {
  const { api, tenant } = useApi({ env: withTimes({ streamRecheck: 600_000 }, { WORKER_ENABLED: 'false' }) });
  const key = (options?: KeyOptions) => createKey(api, tenant, options);
  const as = ({ token }: { token: string }, method: string, path: string, body?: object) =>
    api.request(method, `/api/v1${path}`, { token, ...(body && { body }) });
  const byOwner = (method: string, path: string, body?: object) => as(tenant.owner, method, path, body);
  const list = async (): Promise<any[]> => (await byOwner('GET', `/organizations/${tenant.organizationId}/api-keys`)).body;
  const found = async (id: string) => (await list()).find((each) => each.id === id);
  const isIn = async ({ token }: { token: string }) => (await usageBy(token)).status === 200;
  const usageBy = (token: string) => api.request('GET', `/api/v1/organizations/${tenant.organizationId}/usage`, { token });
  const keyRow = (id: string) => api.database.db.selectFrom('api_key').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const expireAt = (id: string, time: string) =>
    sql`update api_key set expires_at = now() + ${time}::interval where id = ${id}`.execute(api.database.db);
  async function adminOf(organizationId: string): Promise<TestUser> {
    const user = await api.signUp();
    await api.addMember(organizationId, user, 'admin');
    return user;
  }

  it('are made for 90 days and 600 requests a minute, and show their secret once', async () => {
    const { organizationId, owner } = tenant;
    const body = { organizationId, name: 'Nightly import', permissions: ['job:read'] };
    const twice = { ...body, permissions: ['job:read', 'job:read'] };
    const { body: created } = await expectOk(byOwner('POST', '/api-keys', twice));
    const { secret, ...shown } = created;
    expect(secret).to.match(/^sheaf_[0-9A-Za-z]{38}$/);
    expect(shown).to.deep.include({ ...body, workspaceId: null, requestsPerMinute: 600, status: 'active', lastUsedAt: null });
    expect(shown).to.deep.include({ prefix: secret.slice(0, 10), responsibleId: owner.id, overlapEndsAt: null });
    expect(Date.parse(shown.expiresAt) - Date.parse(shown.createdAt)).to.equal(90 * 86_400_000);
    expect(await found(created.id)).to.deep.equal(shown);
    const dump = await sql<{ row: string }>`select row_to_json(api_key)::text as row from api_key`.execute(api.database.db);
    expect(JSON.stringify(dump.rows)).to.not.include(secret.slice(12));
  });

  it('are told by mail to who makes or rotates them, without the secret', async () => {
    await api.database.db.deleteFrom('mail').execute();
    const made = await key();
    await expectOk(byOwner('POST', `/api-keys/${made.id}/rotate`));
    const mails = await api.database.db.selectFrom('mail').selectAll().orderBy('id').execute();
    expect(mails.map(({ kind, recipient, subject }) => [kind, recipient, subject])).to.deep.equal([
      ['notice', tenant.owner.email, 'An API key was made: “Test”'],
      ['notice', tenant.owner.email, 'An API key has a new secret: “Test”'],
    ]);
    for (const { body } of mails) expect(body).to.match(/^Address: \S+\nBrowser: “\S/m);
    expect(JSON.stringify(mails)).to.not.include(made.token);
  });

  it('are changed from the next request on', async () => {
    const made = await key({ permissions: ['document:read'] });
    expect((await as(made, 'GET', `/organizations/${tenant.organizationId}/jobs`)).status).to.equal(403);
    const changes = { name: 'Jobs', permissions: ['job:read'], requestsPerMinute: 7 };
    const twice = { ...changes, permissions: ['job:read', 'job:read'] };
    expect((await expectOk(byOwner('PATCH', `/api-keys/${made.id}`, twice))).body).to.deep.include(changes);
    const answer = await as(made, 'GET', `/organizations/${tenant.organizationId}/jobs`);
    expect([answer.status, answer.headers.get('ratelimit-policy')]).to.deep.equal([200, '"key";q=7;w=60']);
  });

  it('are at most a hundred; those that expired a month ago make room', async () => {
    const full = await api.createTenant();
    const first = await createKey(api, full);
    for (let made = 1; made < keysPerOrganization; made += 1) await createKey(api, full);
    const body = { organizationId: full.organizationId, name: 'One more', permissions: ['job:read'] };
    const oneMore = () => api.request('POST', '/api/v1/api-keys', { token: full.owner.token, body });
    expect((await oneMore()).body).to.include({ code: 'CONFLICT', defined: true });
    await expireAt(first.id, '-29 days');
    expect((await oneMore()).status).to.equal(409);
    await expireAt(first.id, '-31 days');
    const { body: listed } = await api.request('GET', `/api/v1/organizations/${full.organizationId}/api-keys`, { token: full.owner.token });
    expect(listed).to.have.length(keysPerOrganization - 1);
    expect((await oneMore()).status).to.equal(200);
  });

  describe('when they are rotated', () => {
    const rotate = async (id: string, body?: object, by = tenant.owner) => {
      const { body: rotated } = await expectOk(as(by, 'POST', `/api-keys/${id}/rotate`, body));
      return { id, token: rotated.secret as string, shown: rotated };
    };

    it('have both secrets until the overlap ends by the clock of the database', async () => {
      const old = await key();
      const renewed = await rotate(old.id, { overlapSeconds: 3_600 });
      expect([await isIn(old), await isIn(renewed)]).to.deep.equal([true, true]);
      const { overlapEndsAt } = await found(old.id);
      expect(Date.parse(overlapEndsAt) - Date.now()).to.be.within(3_500_000, 3_700_000);
      await sql`update api_key set previous_expires_at = now() where id = ${old.id}`.execute(api.database.db);
      expect([await isIn(old), await isIn(renewed)]).to.deep.equal([false, true]);
      expect((await found(old.id)).overlapEndsAt).to.equal(null);
    });

    it('have no third secret, and with an overlap of nothing only one', async () => {
      const first = await key();
      const second = await rotate(first.id);
      const third = await rotate(first.id);
      expect([await isIn(first), await isIn(second), await isIn(third)]).to.deep.equal([false, true, true]);
      const fourth = await rotate(first.id, { overlapSeconds: 0 });
      expect([await isIn(second), await isIn(third), await isIn(fourth)]).to.deep.equal([false, false, true]);
    });

    it('live as long again, while an old secret lives no longer than it would have', async () => {
      const old = await key({ expiresInDays: 10 });
      await expireAt(old.id, '-1 second');
      const renewed = await rotate(old.id, { overlapSeconds: 3_600 });
      expect([await isIn(old), await isIn(renewed)]).to.deep.equal([false, true]);
      expect(Date.parse(renewed.shown.expiresAt) - Date.now()).to.be.within(9.9 * 86_400_000, 10.1 * 86_400_000);
    });

    it('by another member come back after the one who was responsible has left', async () => {
      const made = await key({ by: await adminOf(tenant.organizationId) });
      const { responsibleId } = await found(made.id);
      await api.database.db.deleteFrom('member').where('userId', '=', responsibleId).execute();
      expect([await isIn(made), (await found(made.id)).status]).to.deep.equal([false, 'suspended']);
      await api.addMember(tenant.organizationId, { id: responsibleId } as TestUser, 'admin');
      expect([await isIn(made), (await found(made.id)).status], 'back again').to.deep.equal([false, 'suspended']);
      const renewed = await rotate(made.id);
      expect([await isIn(made), await isIn(renewed), renewed.shown.responsibleId]).to.deep.equal([false, true, tenant.owner.id]);
    });
  });

  it('do by their old secret what the member before may do, when somebody with more rights rotates them', async () => {
    const admin = await adminOf(tenant.organizationId);
    const made = await key({ by: admin, permissions: ['auditLog:read'] });
    await api.database.db.updateTable('member').set({ role: 'member' }).where('userId', '=', admin.id).execute();
    const { body: renewed } = await expectOk(byOwner('POST', `/api-keys/${made.id}/rotate`));
    const read = async (token: string) => (await as({ token }, 'GET', `/organizations/${tenant.organizationId}/audit-log`)).status;
    expect([await read(made.token), await read(renewed.secret)]).to.deep.equal([403, 200]);
  });

  it('act as themselves: what they do names them, in rows and in the audit log', async () => {
    const made = await key();
    const { organizationId, workspaceId } = tenant;
    const job = await expectOk(as(made, 'POST', '/jobs', { kind: 'text.embed', organizationId, workspaceId, texts: ['one'] }));
    expect(job.body.createdBy).to.equal(made.id);
    expect((await expectOk(byOwner('GET', `/jobs/${job.body.id}`))).body.createdBy).to.equal(made.id);
    const upload = { workspaceId, name: 'note.txt', contentType: 'text/plain', size: 5 };
    const { body } = await expectOk(as(made, 'POST', '/documents', upload));
    expect((await expectOk(as(made, 'GET', `/documents/${body.document.id}`))).body.uploadedBy).to.equal(made.id);
    const { body: log } = await byOwner('GET', `/organizations/${organizationId}/audit-log`);
    const entry = log.entries.find(({ targetId }: { targetId: string }) => targetId === body.document.id);
    expect(entry).to.include({ actorId: made.id, actorEmail: null, impersonatedBy: null });
  });

  it('are audited when they are made, changed, rotated and revoked, without their secrets', async () => {
    const made = await key({ permissions: ['job:read'] });
    const { name } = await found(made.id);
    for (const change of [{}, { name: 'Renamed' }, { name: 'Renamed' }]) await expectOk(byOwner('PATCH', `/api-keys/${made.id}`, change));
    const { body: rotated } = await expectOk(byOwner('POST', `/api-keys/${made.id}/rotate`, {}));
    await expectOk(byOwner('DELETE', `/api-keys/${made.id}`));
    expect(await found(made.id)).to.equal(undefined);
    expect((await byOwner('DELETE', `/api-keys/${made.id}`)).body.code).to.equal('NOT_FOUND');
    const { body: log } = await byOwner('GET', `/organizations/${tenant.organizationId}/audit-log`);
    const entries = log.entries.filter(({ targetId }: { targetId: string }) => targetId === made.id);
    expect(entries.map(({ action }: { action: string }) => action)).to.deep.equal([
      'apiKey.revoke',
      'apiKey.rotate',
      'apiKey.update',
      'apiKey.create',
    ]);
    for (const entry of entries) expect(entry).to.include({ actorId: tenant.owner.id, targetType: 'apiKey' });
    expect(entries[2].metadata).to.deep.equal({ name: { from: name, to: 'Renamed' } });
    for (const secret of [made.token, rotated.secret]) expect(JSON.stringify(log)).to.not.include(secret.slice(12));
  });

  it('are audited when they end with their workspace', async () => {
    const { body: workspace } = await expectOk(
      byOwner('POST', '/workspaces', { organizationId: tenant.organizationId, name: 'Brief', slug: 'brief' }),
    );
    const { id } = await key({ workspaceId: workspace.id });
    await expectOk(byOwner('DELETE', `/workspaces/${workspace.id}`));
    const { body } = await expectOk(byOwner('GET', `/organizations/${tenant.organizationId}/audit-log?targetId=${id}`));
    expect(body.entries[0]).to.deep.include({
      ...{ action: 'apiKey.revoke', actorId: tenant.owner.id, metadata: { name: 'Test', workspaceId: workspace.id } },
    });
  });

  it('remember their own Idempotency-Keys, which go with them', async () => {
    const [one, two] = [await key(), await key()];
    const { organizationId } = tenant;
    const same = { organizationId, name: 'Once', slug: `once-${randomUUID()}` };
    const create = ({ token }: { token: string }, slug = same.slug): Promise<Answer> =>
      api.request('POST', '/api/v1/workspaces', { token, body: { ...same, slug }, headers: { 'idempotency-key': 'same' } });
    const first = await expectOk(create(one));
    expect((await expectOk(create(one))).body).to.deep.equal(first.body);
    expect((await create(two)).status, 'its own, so the slug is taken').to.equal(409);
    const records = () => api.database.db.selectFrom('idempotency_key').select('user_id').where('user_id', '=', one.id).execute();
    expect(await records()).to.have.length(1);
    await expectOk(byOwner('DELETE', `/api-keys/${one.id}`));
    expect(await records()).to.have.length(0);
  });

  it('note their last use to the minute, with one write', async () => {
    const made = await key();
    const version = async () =>
      (await sql<{ xmin: string }>`select xmin::text from api_key where id = ${made.id}`.execute(api.database.db)).rows[0]?.xmin;
    const untouched = await version();
    expect(await isIn(made)).to.equal(true);
    const noted = await keyRow(made.id);
    expect(await version()).to.not.equal(untouched);
    expect(noted.last_used_at?.getTime()).to.satisfy((time: number) => time % 60_000 === 0);
    expect(Date.now() - (noted.last_used_at?.getTime() ?? 0)).to.be.below(120_000);
    // At the end of a minute the requests after it write once more.
    for (let round = 0; ; round += 1) {
      const [before, minute] = [await version(), (await keyRow(made.id)).last_used_at];
      await Promise.all(Array.from({ length: 20 }, () => isIn(made)));
      if ((await keyRow(made.id)).last_used_at?.getTime() !== minute?.getTime() && round < 2) continue;
      expect(await version()).to.equal(before);
      return;
    }
  });

  it('that are revoked get nothing more from an open stream, which ends', async () => {
    const made = await key({ workspaceId: tenant.workspaceId });
    const { organizationId, workspaceId } = tenant;
    const stream = await openJobStream(api, { token: made.token, organizationId, workspaceId });
    const create = async () =>
      (await expectOk(byOwner('POST', '/jobs', { kind: 'text.embed', organizationId, workspaceId, texts: ['one'] }))).body.id as string;
    const seen = await create();
    await stream.first(({ data }) => data.id === seen);
    await expectOk(byOwner('DELETE', `/api-keys/${made.id}`));
    // A look may be a second old.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const hidden = await create();
    const { data } = await stream.first(({ event }) => event === 'error');
    expect(data.code).to.equal('UNAUTHORIZED');
    expect(stream.events.map((event) => event.data.id)).to.not.include(hidden);
    await stream.ended;
  });

  it('are to every endpoint of sign-in what a wrong token is', async () => {
    const made = await key();
    for (const { name } of listAuthEndpoints()) {
      const [method = '', path = ''] = name.split(' ');
      const ask = async (token: string) => {
        const options = method === 'GET' ? {} : { body: {} };
        const answer = await api.request(method, `/api/auth${path.replaceAll(/:\w+/g, 'none')}`, { ...options, token });
        const { requestId: _, ...body } = (answer.body ?? {}) as { requestId?: string };
        return { status: answer.status, body };
      };
      expect(await ask(made.token), name).to.deep.equal(await ask('no.token'));
    }
  });
});

describe('The rate of an API key', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false', RATE_LIMIT_PER_MINUTE: '40', TRUST_PROXY: 'true' } });
  let addresses = 0;
  const newAddress = () => `198.51.100.${++addresses}`;
  const askFrom = (address: string, token?: string, path = '/api/v1/health') =>
    api.request('GET', path, { ...(token && { token }), headers: { 'x-forwarded-for': address } });

  it('is its own, whatever address it calls from', async () => {
    const made = await createKey(api, tenant, { requestsPerMinute: 3 });
    for (const left of [2, 1, 0]) {
      const { status, headers } = await askFrom(newAddress(), made.token);
      expect([status, headers.get('ratelimit-policy')]).to.deep.equal([200, '"key";q=3;w=60']);
      expect(headers.get('ratelimit')).to.match(new RegExp(`^"key";r=${left};t=\\d+$`));
    }
    const refused = await askFrom(newAddress(), made.token);
    expect(refused.body).to.include({ code: 'TOO_MANY_REQUESTS' });
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
  });

  it('does not count for the address, nor the address for it', async () => {
    const made = await createKey(api, tenant);
    const address = newAddress();
    for (let asked = 0; asked < 60; asked += 1) expect((await askFrom(address, made.token)).status).to.equal(200);
    for (let asked = 0; asked < 40; asked += 1) expect((await askFrom(address)).status).to.equal(200);
    expect((await askFrom(address)).status).to.equal(429);
    expect((await askFrom(address, made.token)).status).to.equal(200);
  });

  it('is no way around the limit of an address for who has no live key', async () => {
    const made = await createKey(api, tenant);
    await expectOk(api.request('DELETE', `/api/v1/api-keys/${made.id}`, { token: tenant.owner.token }));
    const address = newAddress();
    for (let asked = 0; asked < 40; asked += 1) expect((await askFrom(address, made.token, '/api/v1/me')).status).to.equal(401);
    expect((await askFrom(address, made.token, '/api/v1/me')).status).to.equal(429);
  });

  it('is also that of its searches, of which it has more than a user', async () => {
    const made = await createKey(api, tenant, { workspaceId: tenant.workspaceId });
    const search = (token: string) =>
      api.request('POST', `/api/v1/workspaces/${tenant.workspaceId}/documents/search`, {
        token,
        body: { query: 'mirrors', mode: 'lexical' },
        headers: { 'x-forwarded-for': newAddress() },
      });
    for (let asked = 0; asked < 31; asked += 1) expect((await search(made.token)).status).to.equal(200);
    for (let asked = 0; asked < 30; asked += 1) expect((await search(tenant.owner.token)).status).to.equal(200);
    expect((await search(tenant.owner.token)).status).to.equal(429);
  });
});
