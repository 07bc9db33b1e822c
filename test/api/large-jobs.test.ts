import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import { maxPageBytes } from '../../domain/page.ts';
import type { Answer, Tenant } from '../support/api.ts';
import { openJobStream } from '../support/event-stream.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

const textLength = 200_000;

describe('Jobs with large texts', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let tenant: Tenant;

  beforeEach(async () => {
    tenant = await api.createTenant();
  });

  /** Writes failed jobs of so many characters, one each second, and returns their ids, newest first. */
  async function insertJobs(count: number, length = textLength): Promise<string[]> {
    const { rows } = await sql<{ id: string }>`
      insert into job (id, organization_id, kind, status, input, max_attempts, credits, credit_month, finished_at, created_at)
      select gen_random_uuid()::text, ${tenant.organizationId}, 'text.summarize', 'failed',
        jsonb_build_object('maxSentences', 5, 'text', repeat('a', ${length}::int)), 1, 0, now(), now(), now() - n * interval '1 second'
      from generate_series(1, ${count}::int) as series (n)
      returning id
    `.execute(api.database.db);
    return rows.map(({ id }) => id);
  }

  const list = (query: object): Promise<Answer> =>
    callOver(api, 'REST', 'jobs.list', { organizationId: tenant.organizationId, ...query }, { token: tenant.owner.token });

  it('fill a page at 4 MiB, whatever its limit, and the cursor goes on', async () => {
    const ids = await insertJobs(50);
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | undefined | null; cursor !== null; ) {
      const { status, body } = await list({ limit: 100, ...(cursor ? { cursor } : {}) });
      expect(status).to.equal(200);
      seen.push(...body.items.map(({ id }: { id: string }) => id));
      sizes.push(Buffer.byteLength(JSON.stringify(body)));
      cursor = body.nextCursor;
    }
    expect(seen).to.deep.equal(ids);
    expect(Math.max(...sizes)).to.be.at.most(maxPageBytes);
    // Texts that compress well count as they are sent: 20 of them fit.
    expect(sizes).to.have.length(3);
    expect(sizes[0]).to.be.greaterThan(maxPageBytes * 0.9);
  });

  it('are sent over RPC as over REST', async () => {
    await insertJobs(3);
    const { organizationId } = tenant;
    const headers = { authorization: `Bearer ${tenant.owner.token}`, 'content-type': 'application/json' };
    const rest = await fetch(`${api.url}/api/v1/organizations/${organizationId}/jobs`, { headers });
    const body = JSON.stringify({ json: { organizationId } });
    const rpc = await fetch(`${api.url}/rpc/jobs/list`, { method: 'POST', headers, body });
    expect([rpc.status, rpc.headers.get('content-type')]).to.deep.equal([200, 'application/json']);
    expect(await rpc.text()).to.equal(`{"json":${await rest.text()}}`);
  });

  it('make a page of one if each is larger than a page', async () => {
    const [first, second] = await insertJobs(2, maxPageBytes + 1);
    const { body } = await list({ limit: 100 });
    expect(body.items.map(({ id }: { id: string }) => id)).to.deep.equal([first]);
    const rest = await list({ limit: 100, cursor: body.nextCursor });
    expect(rest.body.items.map(({ id }: { id: string }) => id)).to.deep.equal([second]);
    expect(rest.body.nextCursor).to.equal(null);
  });

  it('count in a page even if they were written before their sizes were kept', async () => {
    await insertJobs(50);
    await sql`alter table job disable trigger measure_job_input`.execute(api.database.db);
    await sql`update job set input_bytes = null where organization_id = ${tenant.organizationId}`.execute(api.database.db);
    await sql`alter table job enable trigger measure_job_input`.execute(api.database.db);
    expect((await list({ limit: 100 })).body.items).to.have.length.within(15, 21);
  });

  it('are all sent to a stream that resumes, however many there are', async () => {
    const { token } = tenant.owner;
    const { organizationId } = tenant;
    const before = await openJobStream(api, { token, organizationId });
    await insertJobs(1, 10);
    const { id: lastEventId } = await before.first(({ event }) => event === 'message');
    before.close();
    const ids = await insertJobs(30);
    const resumed = await openJobStream(api, { token, organizationId, lastEventId });
    for (const id of ids) await resumed.first(({ data }) => data.id === id);
    // A change that is committed now comes too: the replay is over, or comes to it.
    const [next] = await insertJobs(1);
    await resumed.first(({ data }) => data.id === next);
    resumed.close();
  });

  describe('that are canceled', () => {
    const text = (length: number) => ({ kind: 'text.summarize', organizationId: tenant.organizationId, text: 'ä'.repeat(length) });
    const texts = (length: number) => ({
      kind: 'text.embed',
      organizationId: tenant.organizationId,
      texts: Array(16).fill('b'.repeat(length)),
    });

    async function canceled(body: object): Promise<any> {
      const { token } = tenant.owner;
      const created = await api.request('POST', '/api/v1/jobs', { token, body });
      expect(created.status, JSON.stringify(created.body).slice(0, 200)).to.equal(200);
      const answer = await api.request('POST', `/api/v1/jobs/${created.body.id}/cancel`, { token });
      expect(answer.status).to.equal(200);
      const { body: later } = await api.request('GET', `/api/v1/jobs/${created.body.id}`, { token });
      expect(later).to.deep.equal(answer.body);
      return later;
    }

    it('keep their texts', async () => {
      expect((await canceled(text(textLength))).input).to.deep.equal({ text: 'ä'.repeat(textLength), maxSentences: 5 });
      expect((await canceled(texts(8_000))).input).to.deep.equal({ texts: Array(16).fill('b'.repeat(8_000)) });
    });

    it('or fail with their workspace, too, and are not retried then', async () => {
      const { token } = tenant.owner;
      const { body: job } = await api.request('POST', '/api/v1/jobs', {
        token,
        body: { ...text(textLength), workspaceId: tenant.workspaceId },
      });
      await api.request('DELETE', `/api/v1/workspaces/${tenant.workspaceId}`, { token });
      const ended = await api.jobIn(token, job.id, ['failed']);
      expect(ended.input.text).to.equal('ä'.repeat(textLength));
      const retried = await api.request('POST', `/api/v1/jobs/${job.id}/retry`, { token });
      expect(retried.body).to.include({ code: 'NOT_FOUND', defined: true });
    });

    it('are not kept by an Idempotency-Key, whose answer stays the same', async () => {
      const { token } = tenant.owner;
      const key = randomUUID();
      const create = () => api.request('POST', '/api/v1/jobs', { token, body: text(textLength), headers: { 'idempotency-key': key } });
      const first = await create();
      await api.request('POST', `/api/v1/jobs/${first.body.id}/cancel`, { token });
      expect((await create()).body).to.deep.equal(first.body);
      await api.database.db.updateTable('job').set({ status: 'failed' }).where('id', '=', first.body.id).execute();
      const retry = () => api.request('POST', `/api/v1/jobs/${first.body.id}/retry`, { token, headers: { 'idempotency-key': key } });
      const retried = await retry();
      expect(retried.status).to.equal(200);
      expect((await retry()).body).to.deep.equal(retried.body);
      const { rows } = await sql<{ bytes: number }>`
        select max(octet_length(response::text)) as bytes from idempotency_key where key = ${key}
      `.execute(api.database.db);
      expect(rows[0]?.bytes).to.be.lessThan(6_000);
    });
  });

  it('do not make the audit log larger than a page', async () => {
    await sql`
      insert into audit_entry (id, organization_id, action, target_type, target_id, metadata)
      select gen_random_uuid()::text, ${tenant.organizationId}, 'organization.update', 'organization', 'x', jsonb_build_object('name', repeat('n', 500000))
      from generate_series(1, 20)
    `.execute(api.database.db);
    const path = `/api/v1/organizations/${tenant.organizationId}/audit-log?limit=100`;
    const { body } = await api.request('GET', path, { token: tenant.owner.token });
    expect(body.entries).to.have.length(8);
    expect(body.nextCursor).to.be.a('string');
  });
});
