import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Answer } from '../support/api.ts';
import { untilWaiting } from '../support/locks.ts';
import { until } from '../support/processes.ts';
import { callOver, type Transport, transports } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { patient, useBounds } from './support/use-bounds.ts';

describe('Idempotency-Key', () => {
  useBounds(patient);
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false', DATABASE_POOL_SIZE: '24' } });
  let documentId: string;
  let failedJobId: string;

  before(async () => {
    documentId = (await api.upload(tenant, { bytes: 'A text.' })).id;
    const failed = await call('REST', 'jobs.create', undefined, { kind: 'document.extract', documentId });
    failedJobId = failed.body.id;
    await api.database.db.updateTable('job').set({ status: 'failed', finished_at: new Date() }).where('id', '=', failedJobId).execute();
  });

  function call(
    transport: Transport,
    operation: string,
    key: string | undefined,
    input: Record<string, unknown>,
    token = tenant.owner.token,
  ) {
    return callOver(api, transport, operation, input, { token, headers: key === undefined ? {} : { 'idempotency-key': key } });
  }
  const twins = 6;
  /** Lets nothing of the tenant's be written until it is committed. */
  async function holdOrganization() {
    const held = await api.database.db.startTransaction().execute();
    await held.selectFrom('organization').select('id').where('id', '=', tenant.organizationId).forUpdate().execute();
    return held;
  }
  const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status);

  /** Everything that an effect may have written, as counts: nothing may grow twice. */
  async function written() {
    const { db } = api.database;
    const count = async (table: 'workspace' | 'document' | 'job' | 'credit_entry' | 'audit_entry' | 'idempotency_key') => {
      const { n } = await db
        .selectFrom(table)
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow();
      return n;
    };
    return {
      workspaces: await count('workspace'),
      documents: await count('document'),
      jobs: await count('job'),
      credits: await count('credit_entry'),
      entries: await count('audit_entry'),
      keys: await count('idempotency_key'),
    };
  }
  async function grownBy(work: () => Promise<unknown>) {
    const before = await written();
    await work();
    const after = await written();
    return Object.fromEntries(Object.entries(after).map(([name, n]) => [name, n - before[name as keyof typeof before]]));
  }

  interface Case {
    operation: string;
    input(): Record<string, unknown>;
    another(input: Record<string, unknown>): Record<string, unknown>;
    effect: Partial<Record<'workspaces' | 'documents' | 'jobs' | 'credits' | 'entries', number>>;
    /** What must be the same in every answer. */
    same(body: any): unknown;
  }
  const cases: Case[] = [
    {
      operation: 'workspaces.create',
      input: () => ({ organizationId: tenant.organizationId, name: 'Twin', slug: `twin-${randomUUID().slice(0, 8)}` }),
      another: (input) => ({ ...input, name: 'Other' }),
      effect: { workspaces: 1, entries: 1 },
      same: (body) => body,
    },
    {
      operation: 'documents.createUpload',
      input: () => ({ workspaceId: tenant.workspaceId, name: 'twin.txt', contentType: 'text/plain', size: 5 }),
      another: (input) => ({ ...input, size: 6 }),
      effect: { documents: 1, entries: 1 },
      same: (body) => body.document,
    },
    {
      operation: 'jobs.create',
      input: () => ({ kind: 'document.summarize', documentId, maxSentences: 3 }),
      another: (input) => ({ ...input, maxSentences: 4 }),
      effect: { jobs: 1, credits: 1, entries: 1 },
      same: (body) => body,
    },
    {
      operation: 'jobs.createMany',
      input: () => {
        const { organizationId } = tenant;
        const long = Array.from({ length: 16 }, () => 'a long text '.repeat(50));
        const jobs = [
          { kind: 'document.summarize', documentId, maxSentences: 3 },
          { kind: 'text.embed', organizationId, texts: long },
        ];
        return { organizationId, jobs };
      },
      another: (input) => ({ ...input, jobs: (input.jobs as object[]).slice(1) }),
      effect: { jobs: 2, credits: 2, entries: 2 },
      same: (body) => body,
    },
    {
      operation: 'jobs.retry',
      input: () => ({ id: failedJobId }),
      another: () => ({ id: 'filled in below' }),
      effect: { jobs: 1, credits: 1, entries: 1 },
      same: (body) => body,
    },
  ];

  for (const { operation, input, another, effect, same } of cases) {
    const none = { workspaces: 0, documents: 0, jobs: 0, credits: 0, entries: 0, keys: 0 };

    describe(`on ${operation}`, () => {
      it('lets twins that run at once have one effect and one answer, over both transports', async () => {
        const key = randomUUID();
        const request = input();
        let answers: Answer[] = [];
        const grown = await grownBy(async () => {
          const held = await holdOrganization();
          const calls = Promise.all(Array.from({ length: twins }, (_, i) => call(i % 2 ? 'RPC' : 'REST', operation, key, request)));
          // All of them have begun before one comes through.
          await untilWaiting(api.database.db, twins);
          await held.commit().execute();
          answers = await calls;
        });
        expect(statusesOf(answers), JSON.stringify(answers.map(({ body }) => body))).to.deep.equal(Array(twins).fill(200));
        expect(new Set(answers.map(({ body }) => JSON.stringify(same(body))))).to.have.length(1);
        expect(grown).to.deep.equal({ ...none, ...effect, keys: 1 });
      });

      it('answers the same again later, and does it again without a key or with another', async () => {
        const key = randomUUID();
        const request = input();
        const first = await call('REST', operation, key, request);
        expect(first.status, JSON.stringify(first.body)).to.equal(200);
        for (const transport of transports) {
          const again = await call(transport, operation, key, request);
          expect(same(again.body)).to.deep.equal(same(first.body));
        }
        for (const [transport, another] of [['RPC', randomUUID()] as const, ['REST', undefined] as const]) {
          const anew = await call(transport, operation, another, input());
          expect(anew.status, JSON.stringify(anew.body)).to.equal(200);
          expect(same(anew.body)).to.not.deep.equal(same(first.body));
        }
      });

      it('refuses the key with another request', async () => {
        const key = randomUUID();
        const request = input();
        expect((await call('REST', operation, key, request)).status).to.equal(200);
        let otherRequest = another(request);
        if (operation === 'jobs.retry') {
          const { id } = (await call('REST', 'jobs.create', undefined, { kind: 'document.extract', documentId })).body;
          await api.database.db.updateTable('job').set({ status: 'failed' }).where('id', '=', id).execute();
          otherRequest = { id };
        }
        const grown = await grownBy(async () => {
          for (const transport of transports) {
            const refused = await call(transport, operation, key, otherRequest);
            expect(refused.body).to.include({ defined: true, code: 'BAD_REQUEST', status: 400 });
            expect(refused.body.data.issues[0].path).to.deep.equal(['Idempotency-Key']);
          }
        });
        expect(grown).to.deep.equal(none);
      });

      it('belongs to one user and one operation', async () => {
        const key = randomUUID();
        const request = input();
        const first = await call('REST', operation, key, request);
        expect(first.status).to.equal(200);
        const colleague = await api.signUp();
        await api.addMember(tenant.organizationId, colleague, 'member');
        const theirs = operation === 'workspaces.create' ? input() : request;
        const second = await call('REST', operation, key, theirs, colleague.token);
        expect(second.status).to.equal(200);
        expect(same(second.body)).to.not.deep.equal(same(first.body));
      });
    });
  }

  describe('answers as the first time', () => {
    /** A tenant of the test's own, the operations that take a key with a request in it, and what removes all that they made. */
    async function prepare() {
      const own = await api.createTenant();
      const { token } = own.owner;
      const { id } = await api.upload(own, { bytes: 'A text.' });
      const failed = await call('REST', 'jobs.create', undefined, { kind: 'document.extract', documentId: id }, token);
      const { db } = api.database;
      await db.updateTable('job').set({ status: 'failed', finished_at: new Date() }).where('id', '=', failed.body.id).execute();
      const requests: [string, Record<string, unknown>, (body: any) => unknown][] = [
        ['workspaces.create', { organizationId: own.organizationId, name: 'Gone', slug: 'gone' }, (body) => body],
        [
          'documents.createUpload',
          { workspaceId: own.workspaceId, name: 'gone.txt', contentType: 'text/plain', size: 5 },
          (body) => body.document,
        ],
        ['jobs.create', { kind: 'document.index', documentId: id }, (body) => body],
        [
          'jobs.create',
          { kind: 'text.embed', organizationId: own.organizationId, workspaceId: own.workspaceId, texts: ['a'] },
          (body) => body,
        ],
        ['jobs.retry', { id: failed.body.id }, (body) => body],
      ];
      const calls = requests.map(([operation, input, same]) => ({ operation, input, same, key: randomUUID() }));
      const firsts = await Promise.all(calls.map(({ operation, input, key }) => call('REST', operation, key, input, token)));
      expect(statusesOf(firsts)).to.deep.equal(Array(5).fill(200));
      const partner = await api.signUp();
      await api.addMember(own.organizationId, partner, 'owner');
      const remove = async () => {
        const { body } = await call('REST', 'workspaces.list', undefined, { organizationId: own.organizationId }, partner.token);
        expect(body).to.have.length(2);
        for (const { id } of body) await call('REST', 'workspaces.delete', undefined, { id }, partner.token);
        // As the retention does, later.
        await db.deleteFrom('job').where('organization_id', '=', own.organizationId).execute();
      };
      return { own, calls, firsts, remove };
    }

    it('once all is gone, and does nothing', async () => {
      const { own, calls, firsts, remove } = await prepare();
      await remove();
      for (const transport of transports) {
        const grown = await grownBy(async () => {
          for (const [index, { operation, input, same, key }] of calls.entries()) {
            const again = await call(transport, operation, key, input, own.owner.token);
            expect(again.status, `${operation} ${JSON.stringify(again.body)}`).to.equal(200);
            expect(same(again.body), operation).to.deep.equal(same(firsts[index]?.body));
          }
        });
        expect(Object.values(grown)).to.deep.equal([0, 0, 0, 0, 0, 0]);
      }
    });

    it('and refuses another request with the key, or the request without it', async () => {
      const { own, calls, remove } = await prepare();
      await remove();
      for (const { operation, input, key } of calls) {
        if (operation === 'workspaces.create') continue;
        expect((await call('REST', operation, undefined, input, own.owner.token)).body.code, operation).to.equal('NOT_FOUND');
        const other = operation === 'jobs.retry' ? { id: 'another' } : { ...input, maxAttempts: 9, size: 6 };
        expect((await call('REST', operation, key, other, own.owner.token)).body.code, operation).to.equal('BAD_REQUEST');
      }
    });

    it('only to who may still ask', async () => {
      const { own, calls, remove } = await prepare();
      await api.database.db.deleteFrom('member').where('userId', '=', own.owner.id).execute();
      for (const gone of [false, true]) {
        if (gone) await remove();
        for (const transport of transports) {
          for (const { operation, input, key } of calls) {
            const refused = await call(transport, operation, key, input, own.owner.token);
            expect(refused.body.code, operation).to.equal('FORBIDDEN');
          }
        }
      }
    });
  });

  it('signs upload URLs afresh, and stores none', async () => {
    const key = randomUUID();
    const request = cases[1]?.input() ?? {};
    const first = await call('REST', 'documents.createUpload', key, request);
    // Signatures tell the time in seconds.
    const signedAt = Math.floor(Date.now() / 1_000);
    await until(() => Math.floor(Date.now() / 1_000) > signedAt);
    const again = await call('RPC', 'documents.createUpload', key, request);
    expect(again.body.document).to.deep.equal(first.body.document);
    expect(again.body.upload.url).to.not.equal(first.body.upload.url);
    expect(Date.parse(again.body.upload.expiresAt)).to.be.greaterThan(Date.parse(first.body.upload.expiresAt));
    const put = await fetch(again.body.upload.url, { method: 'PUT', headers: again.body.upload.headers, body: 'ABCDE' });
    expect(put.status).to.equal(200);
    const row = await api.database.db.selectFrom('idempotency_key').select('response').where('key', '=', key).executeTakeFirstOrThrow();
    expect(JSON.stringify(row.response)).to.not.match(/signature|https?:/);
  });

  it('keeps nothing of what failed: the same key works once the reason is gone', async () => {
    const key = randomUUID();
    const { organizationId } = tenant;
    const taken = { organizationId, name: 'Taken', slug: 'soon-free' };
    const { body: holder } = await call('REST', 'workspaces.create', undefined, taken);
    const grown = await grownBy(async () => {
      for (const transport of transports) {
        expect((await call(transport, 'workspaces.create', key, taken)).body).to.include({ code: 'CONFLICT' });
      }
    });
    expect(grown).to.include({ workspaces: 0, entries: 0, keys: 0 });
    await call('REST', 'workspaces.delete', undefined, { id: holder.id });
    expect((await call('RPC', 'workspaces.create', key, taken)).status).to.equal(200);
  });

  it('lets a twin that waited do the work when the first one failed', async () => {
    const key = randomUUID();
    const { db } = api.database;
    const { organizationId } = tenant;
    const blocked = await holdOrganization();
    const twins = [1, 2].map(() => call('REST', 'workspaces.create', key, { organizationId, name: 'Late', slug: 'late' }));
    // The first one holds the key and waits for the organization; it fails, since the slug is taken meanwhile.
    await untilWaiting(db, 2);
    await blocked.insertInto('workspace').values({ id: 'in-the-way', organization_id: organizationId, name: 'X', slug: 'late' }).execute();
    await blocked.commit().execute();
    expect(statusesOf(await Promise.all(twins))).to.deep.equal([409, 409]);
    await db.deleteFrom('workspace').where('id', '=', 'in-the-way').execute();
    const answers = await Promise.all(
      [1, 2].map(() => call('REST', 'workspaces.create', key, { organizationId, name: 'Late', slug: 'late' })),
    );
    expect(statusesOf(answers)).to.deep.equal([200, 200]);
    expect(answers[0]?.body).to.deep.equal(answers[1]?.body);
  });

  it('lets a twin that waited do the work when the first one was lost', async () => {
    const key = randomUUID();
    const { db } = api.database;
    const request = { organizationId: tenant.organizationId, name: 'Lost', slug: 'lost' };
    const held = await holdOrganization();
    const grown = await grownBy(async () => {
      const answers = [1, 2].map(() => call('REST', 'workspaces.create', key, request));
      const waiting = await untilWaiting(db, 2);
      const first = waiting.find(({ query }) => !query.includes('idempotency_key'));
      expect(waiting.filter(({ query }) => query.includes('idempotency_key'))).to.have.length(1);
      await sql`select pg_terminate_backend(${first?.pid}::int, 5000)`.execute(db);
      // The twin has the key now, and waits where the first one did.
      await until(async () => (await untilWaiting(db, 1)).every(({ query }) => !query.includes('idempotency_key')));
      await held.commit().execute();
      expect(statusesOf(await Promise.all(answers)).sort()).to.deep.equal([200, 503]);
    });
    expect(grown).to.include({ workspaces: 1, entries: 1, keys: 1 });
  });
});
