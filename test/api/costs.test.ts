import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { CallOwner } from '../../adapters/ai-service/port.ts';
import { readPrices } from '../../base/config/prices.ts';
import { createCallRecord } from '../../domain/costs/record-calls.ts';
import type { Tenant } from '../support/api.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

const day = (before: number) => new Date(Date.now() - before * 86_400_000).toISOString().slice(0, 10);
const talker = { role: 'chat', model: 'talker' } as const;
const prices = [
  { ...talker, from: '2020-01-01', input: '1', cached: '0.5', output: '2' },
  { ...talker, from: day(2), input: '0.15', cached: '0.075', output: '0.6' },
  { role: 'embed', model: 'talker', from: '2020-01-01', input: '900', cached: '900', output: '900' },
];

describe('organizations.costs', () => {
  const directory = makeTestDirectory();
  const file = join(directory, 'prices.json');
  const write = (content: unknown) => writeFileSync(file, JSON.stringify(content));
  write({ currency: 'EUR', prices });
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false', PROVIDER_PRICES: file }, tenant: 'of each test' });
  after(() => removeTestDirectory(directory));

  const none = { unreported: 0, input: 0, cached: 0, output: 0 };
  /** Stores a call of a model; without `used` one that was cut. */
  async function store(
    owner: Partial<CallOwner>,
    used?: { model: string; input: number; cached: number; output: number },
    of: Tenant = tenant,
  ) {
    const record = createCallRecord(api.database.db, (error) => {
      throw error;
    });
    const call = { ...owner, role: 'chat' as const, organizationId: of.organizationId };
    const id = await record.begin(call);
    if (used) await record.end(id, call, { ...none, role: 'chat', calls: 1, ...used });
    return id;
  }
  const used = { model: 'talker', input: 1_000, cached: 400, output: 10 };
  const costs = async (input: object = {}): Promise<any> => {
    const all = { organizationId: tenant.organizationId, ...input };
    const { status, body } = await callOver(api, 'REST', 'organizations.costs', all, { token: tenant.owner.token });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };
  const whole = { unreportedCalls: 0, unpricedCalls: 0 };

  it('adds up tokens and money by each grouping', async () => {
    await store({ purpose: 'job', purposeId: 'job-1', workspaceId: 'w-1', documentId: 'd-1', actorId: 'key_1' }, used);
    await store({ purpose: 'job', purposeId: 'job-1', workspaceId: 'w-1', documentId: 'd-1', actorId: 'key_1', attempt: 2 }, used);
    await store({ purpose: 'answer', purposeId: 'a-1', workspaceId: 'w-2', actorId: 'user-1' }, { ...used, output: 11 });
    await store({ purpose: 'search' }, used, await api.createTenant());
    const tokens = { inputTokens: 2_000, cachedInputTokens: 800, outputTokens: 20 };
    // 600 × 0.15 + 400 × 0.075 + 10 × 0.6 = 126 millionths.
    const two = { day: day(0), calls: 2, ...whole, ...tokens, knownCostMicros: 252 };
    const one = { day: day(0), calls: 1, ...whole, inputTokens: 1_000, cachedInputTokens: 400, outputTokens: 11, knownCostMicros: 127 };
    for (const [by, first, second] of [
      ['workspace', 'w-1', 'w-2'],
      ['document', 'd-1', null],
      ['job', 'job-1', null],
      ['key', 'key_1', null],
    ]) {
      expect((await costs({ by })).items, String(by)).to.deep.equal([
        { ...two, group: first },
        { ...one, group: second },
      ]);
    }
    const { items, ...rest } = await costs({});
    expect(rest).to.deep.equal({ from: day(30), to: day(0), currency: 'EUR', nextCursor: null });
    const sum = { calls: 3, inputTokens: 3_000, cachedInputTokens: 1_200, outputTokens: 31, knownCostMicros: 379 };
    expect(items).to.deep.equal([{ day: day(0), group: tenant.organizationId, ...whole, ...sum }]);
  });

  it('takes the price of the day of each call', async () => {
    for (const before of [1, 2, 3]) {
      const id = await store({}, used);
      const created_at = new Date(`${day(before)}T23:59:59.999Z`);
      await api.database.db.updateTable('provider_call').set({ created_at }).where('id', '=', id).execute();
    }
    const found = (await costs({ by: 'model' })).items.map((item: any) => [item.day, item.group, item.knownCostMicros]);
    expect(found).to.deep.equal([
      [day(1), 'talker', 126],
      [day(2), 'talker', 126],
      [day(3), 'talker', 820],
    ]);
    expect((await costs({ days: 1, to: day(2) })).items).to.have.length(1);
  });

  it('rounds each sum once', async () => {
    for (let n = 0; n < 3; n++) await store({}, { model: 'talker', input: 3, cached: 0, output: 0 });
    expect((await costs()).items[0].knownCostMicros).to.equal(1);
  });

  it('counts calls without tokens or without a price, and guesses neither', async () => {
    await store({ workspaceId: 'cut' });
    await store({ workspaceId: 'unpriced' }, { ...used, model: 'unheard-of' });
    await store({ workspaceId: 'unpriced' }, used);
    const found = (await costs({ by: 'workspace' })).items;
    expect(found[0]).to.include({ group: 'cut', calls: 1, unreportedCalls: 1, unpricedCalls: 0, knownCostMicros: null });
    expect(found[1]).to.include({ group: 'unpriced', calls: 2, unreportedCalls: 0, unpricedCalls: 1, knownCostMicros: 126 });
  });

  it('goes on where a page has ended, each row once, those of no group last', async () => {
    // The first page ends within a day, the second with the last row of one.
    await sql`
      insert into provider_call (organization_id, role, purpose, document_id, model, unreported_calls, created_at)
      select ${tenant.organizationId}, 'chat', 'job', nullif('d.' || n / 6, 'd.0'), 'talker', 0, now() - n % 6 * interval '1 day'
      from generate_series(0, 23999) as n`.execute(api.database.db);
    const rows: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { items, nextCursor } = await costs({ by: 'document', ...(cursor && { cursor }) });
      rows.push(...items.map((item: any) => `${item.day} ${item.group}`));
      sizes.push(items.length);
      cursor = nextCursor;
    }
    expect(sizes).to.deep.equal([10_000, 10_000, 4_000]);
    expect(new Set(rows).size).to.equal(24_000);
    expect([3_999, 19_999, 23_999].map((row) => rows[row])).to.deep.equal([0, 4, 5].map((before) => `${day(before)} null`));
  });

  it('is for those who may read the billing', async () => {
    const input = { organizationId: tenant.organizationId };
    const stranger = await api.createTenant();
    const { status } = await callOver(api, 'REST', 'organizations.costs', input, { token: stranger.owner.token });
    expect(status).to.equal(403);
  });
});

describe('PROVIDER_PRICES', () => {
  const directory = makeTestDirectory();
  const file = join(directory, 'prices.json');
  after(() => removeTestDirectory(directory));
  const read = (content: string) => {
    writeFileSync(file, content);
    return readPrices(file);
  };

  it('has amounts in whole millionths', () => {
    const price = { ...talker, from: '2026-01-01', input: '0.15', cached: '12', output: '0.000001' };
    expect(read(JSON.stringify({ currency: 'USD', prices: [price] }))).to.deep.equal({
      currency: 'USD',
      prices: [{ ...price, input: 150_000, cached: 12_000_000, output: 1 }],
    });
  });

  it('is refused by its name if it is absent or not such a table', () => {
    const good = prices[0];
    for (const table of [
      { currency: 'USD', prices: [{ ...good, input: 0.15 }] },
      { currency: 'USD', prices: [{ ...good, input: '0.0000001' }] },
      { currency: 'USD', prices: [{ ...good, output: undefined }] },
      { currency: 'USD', prices: [{ ...good, from: '2026-02-30' }] },
      { currency: 'USD', prices: [{ ...good, from: '0000-01-01' }] },
      { currency: 'USD', prices: [good, good] },
      { currency: 'dollars', prices: [] },
    ])
      expect(() => read(JSON.stringify(table)), JSON.stringify(table)).to.throw(/^PROVIDER_PRICES: /);
    expect(() => read('no json')).to.throw(/^PROVIDER_PRICES: /);
    expect(() => readPrices('/nowhere/prices.json')).to.throw(/^PROVIDER_PRICES: .*ENOENT/);
  });
});
