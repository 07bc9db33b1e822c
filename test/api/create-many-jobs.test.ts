import { expect } from 'chai';
import { sql } from 'kysely';
import type { Answer, Tenant } from '../support/api.ts';
import { createKey } from '../support/api-keys.ts';
import { untilWaiting } from '../support/locks.ts';
import { expectOk } from '../support/requests.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { billingOn } from './auth/support/service.ts';
import { patient, useBounds } from './support/use-bounds.ts';

describe('jobs.createMany', () => {
  useBounds(patient);
  const { api, tenant } = useApi({
    env: {
      WORKER_ENABLED: 'false',
      ...billingOn,
      STRIPE_API_BASE: 'http://127.0.0.1:9',
      PLANS: '{"free":{"aiCredits":200}}',
    },
    check: 'after each test',
    tenant: 'of each test',
  });
  let documents: string[];
  const embed = (more: object = {}) => ({ kind: 'text.embed', organizationId: tenant.organizationId, texts: ['one'], ...more });

  beforeEach(async () => {
    documents = [];
    for (const name of ['a.txt', 'b.txt', 'c.txt']) documents.push((await api.upload(tenant, { name, bytes: `The text of ${name}.` })).id);
  });

  function create(jobs: object[], { token = tenant.owner.token } = {}): Promise<Answer> {
    return callOver(api, 'REST', 'jobs.createMany', { organizationId: tenant.organizationId, jobs }, { token });
  }

  async function written() {
    const { db } = api.database;
    const { organizationId } = tenant;
    const jobs = await db.selectFrom('job').select('id').where('organization_id', '=', organizationId).execute();
    const entries = await db.selectFrom('credit_entry').select('amount').where('organization_id', '=', organizationId).execute();
    const audit = await db
      .selectFrom('audit_entry')
      .select('target_id')
      .where('organization_id', '=', organizationId)
      .where('action', '=', 'job.create')
      .execute();
    return { jobs: jobs.length, credits: entries.reduce((sum, { amount }) => sum + amount, 0), audit: audit.length };
  }

  it('queues jobs of every kind in their order, charged and audited one by one', async () => {
    const [a, b] = documents;
    const jobs = [
      { kind: 'document.index', documentId: b },
      embed({ workspaceId: tenant.workspaceId }),
      { kind: 'document.summarize', documentId: a, maxSentences: 2 },
      embed(),
    ];
    const { status, body } = await create(jobs);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.items.map(({ kind, documentId }: any) => [kind, documentId])).to.deep.equal([
      ['document.index', b],
      ['text.embed', null],
      ['document.summarize', a],
      ['text.embed', null],
    ]);
    expect(body.items.map(({ workspaceId }: any) => workspaceId)).to.deep.equal([...Array(3).fill(tenant.workspaceId), null]);
    expect(await written()).to.deep.equal({ jobs: 4, credits: 2 + 1 + 5 + 1, audit: 4 });
  });

  it('takes a hundred, and no more and no fewer than one', async () => {
    expect((await create(Array.from({ length: 100 }, () => embed()))).body.items).to.have.length(100);
    for (const jobs of [Array.from({ length: 101 }, () => embed()), []])
      expect((await create(jobs)).body).to.include({ code: 'BAD_REQUEST' });
    expect(await written()).to.include({ jobs: 100, credits: 100 });
  });

  it('refuses all if one is refused, and says which', async () => {
    const [a] = documents;
    const upload = { workspaceId: tenant.workspaceId, name: 'd.txt', contentType: 'text/plain', size: 5 };
    const pending = (await callOver(api, 'REST', 'documents.createUpload', upload, { token: tenant.owner.token })).body.document.id;
    const stranger = await api.createTenant();
    const theirs = (await api.upload(stranger, { bytes: 'Not yours.' })).id;
    const cases: [object, string][] = [
      [{ kind: 'document.index', documentId: 'none' }, 'NOT_FOUND'],
      [{ kind: 'document.index', documentId: theirs }, 'FORBIDDEN'],
      [embed({ organizationId: stranger.organizationId }), 'FORBIDDEN'],
      [embed({ workspaceId: stranger.workspaceId }), 'FORBIDDEN'],
      [embed({ workspaceId: 'none' }), 'NOT_FOUND'],
      [{ kind: 'document.index', documentId: pending }, 'PRECONDITION_FAILED'],
    ];
    for (const [wrong, code] of cases) {
      const { body } = await create([{ kind: 'document.index', documentId: a }, embed(), wrong, embed()]);
      expect(body, JSON.stringify(wrong)).to.include({ code, defined: true });
      expect(body.message).to.match(/^jobs\[2\]: /);
    }
    const { body } = await create([embed(), { kind: 'text.embed' }]);
    expect(body).to.include({ code: 'BAD_REQUEST' });
    expect(body.data.issues[0].path.slice(0, 2)).to.deep.equal(['jobs', 1]);
    expect(await written()).to.deep.equal({ jobs: 0, credits: 0, audit: 0 });
  });

  it('queues none if the credits do not suffice for all', async () => {
    const { body } = await create(Array.from({ length: 100 }, () => ({ kind: 'document.summarize', documentId: documents[0] })));
    expect(body).to.include({ code: 'LIMIT_REACHED' });
    expect(body.message).to.match(/^jobs\[\d+\]: /);
    expect(body.data).to.include({ kind: 'aiCredits' });
    expect(await written()).to.deep.equal({ jobs: 0, credits: 0, audit: 0 });
  });

  it('locks its documents in the order of their ids, and all of them before it charges', async () => {
    const { db } = api.database;
    const { organizationId } = tenant;
    await expectOk(create([embed()]));
    const ids = documents.toSorted();
    const jobs = ids.toReversed().map((documentId) => ({ kind: 'document.extract', documentId }));
    const created = await db.transaction().execute(async (trx) => {
      await sql`select from document where id = ${ids[0]} for update`.execute(trx);
      const answer = create(jobs);
      await untilWaiting(db, 1);
      await sql`select from document where id = any(${ids}) for update nowait`.execute(trx);
      await sql`select from credit_month where organization_id = ${organizationId} for update nowait`.execute(trx);
      return { answer };
    });
    await expectOk(created.answer);
    expect(await written()).to.include({ jobs: 4 });
  });

  it('asks of each job the workspace of a key', async () => {
    const { token } = tenant.owner;
    const { organizationId, workspaceId } = tenant;
    const body = { organizationId, name: 'Beside', slug: 'beside' };
    const { body: beside } = await callOver(api, 'REST', 'workspaces.create', body, { token });
    const ofBeside: Pick<Tenant, 'owner' | 'workspaceId'> = { owner: tenant.owner, workspaceId: beside.id };
    const document = await api.upload(ofBeside, { bytes: 'Beside.' });
    const key = await createKey(api, tenant, { workspaceId });
    const inside = embed({ workspaceId });
    for (const outside of [embed(), embed({ workspaceId: beside.id }), { kind: 'document.index', documentId: document.id }]) {
      const refused = await create([inside, outside], { token: key.token });
      expect(refused.body).to.include({ code: 'FORBIDDEN' });
    }
    const { body: created } = await create([inside], { token: key.token });
    expect(created.items[0]).to.include({ createdBy: key.id, workspaceId });
    expect(await written()).to.include({ jobs: 1 });
  });
});
