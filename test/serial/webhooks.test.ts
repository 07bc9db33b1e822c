import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { newId } from '../../domain/ids.ts';
import { findFreePorts } from '../../local/ports.ts';
import { until } from '../support/processes.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { useApi } from '../support/use-api.ts';
import { webhooksOn } from '../webhooks/support.ts';

/** Nine of ten endpoints are bad. `WEBHOOKS_DRILL=100x10000` takes 100 endpoints and 10,000 events, each for its share of them. */
const [endpoints = 20, events = 40] = (process.env.WEBHOOKS_DRILL ?? '').split('x').filter(Boolean).map(Number);
const endpointsOfOrganization = 10;
const eventsPerSecond = 2;

describe(`${events} events for ${endpoints} endpoints, most of them dead, slow, redirecting or hostile`, () => {
  const env = { ...webhooksOn, WEBHOOK_RETRY_DELAYS_MS: '1000,5000,5000', WEBHOOK_TIMEOUT_MS: '5000' };
  const { api } = useApi({ services: ['api', 'worker'], env });
  const live: Receiver[] = [];
  const never: Receiver[] = [];
  const others: Receiver[] = [];
  const organizations: string[] = [];
  const sent: { id: string; organizationId: string; at: number; beforeKill: boolean }[] = [];
  let peakBytes = 0;

  before(async () => {
    const [closed = 0] = await findFreePorts(1);
    const target = await startReceiver();
    never.push(target);
    for (let n = 0; n < endpoints; n += endpointsOfOrganization) {
      const { organizationId } = await api.createTenant();
      organizations.push(organizationId);
      for (let m = 0; m < endpointsOfOrganization; m++) await addEndpoint(organizationId, await urlOf(m, closed, target.url));
    }
  });
  after(async () => {
    for (const receiver of [...live, ...never, ...others]) await receiver.stop();
  });

  async function urlOf(m: number, closed: number, target: string): Promise<string> {
    if (m === 0) {
      const receiver = await startReceiver();
      live.push(receiver);
      return receiver.url;
    }
    if (m % 4 === 0) {
      // A neighbour whose address is not allowed.
      const hidden = await startReceiver({ host: '127.0.0.2' });
      never.push(hidden);
      return hidden.url;
    }
    if (m % 4 === 1) return `http://127.0.0.1:${closed}/`;
    const bad = await startReceiver();
    bad.behave(m % 4 === 2 ? { never: true } : { status: 307, headers: { location: target } });
    others.push(bad);
    return bad.url;
  }

  async function addEndpoint(organizationId: string, url: string): Promise<void> {
    const [id, secret] = [newId(), `whsec_${Buffer.alloc(24, 7).toString('base64')}`];
    const row = { id, organization_id: organizationId, url, secret, signature: 'v1' as const, events: ['member.added' as const] };
    await api.database.db.insertInto('webhook_endpoint').values(row).execute();
  }

  async function emit(number: number, beforeKill: boolean): Promise<void> {
    const organizationId = organizations[number % organizations.length] ?? '';
    const data = JSON.stringify({ memberId: `m${number}`, userId: 'u', role: 'member' });
    await sql`select emit_webhook(${organizationId}, 'member.added', ${`drill ${number}`}, ${data}::jsonb)`.execute(api.database.db);
    sent.push({ id: `m${number}`, organizationId, at: Date.now(), beforeKill });
  }

  function noteMemory(): void {
    const pid = api.stack.pid('worker');
    const resident = pid ? /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] : undefined;
    peakBytes = Math.max(peakBytes, Number(resident ?? 0) * 1_024);
  }

  it('reach every live one, also while a worker is killed, and no private address', async function () {
    this.timeout(20 * 60_000 + events * 2_000);
    for (let n = 0; n < events; n++) {
      if (n === Math.floor(events * 0.7)) {
        await api.stack.kill('worker', 'SIGKILL');
        await api.stack.start('worker');
      }
      await emit(n, n < events * 0.6);
      noteMemory();
      await delay(1_000 / eventsPerSecond);
    }
    const missing = () => sent.filter(({ id, organizationId }) => receivedAt(organizationId, id) === undefined);
    await until(() => missing().length === 0, 10 * 60_000).catch(() => {});
    noteMemory();
    expect(missing()).to.deep.equal([]);
    expect(never.flatMap(({ received }) => received)).to.deep.equal([]);
    const delaysMs = sent
      .filter(({ beforeKill }) => beforeKill)
      .map(({ id, organizationId, at }) => (receivedAt(organizationId, id) ?? Number.POSITIVE_INFINITY) - at)
      .sort((a, b) => a - b);
    const p95Ms = delaysMs[Math.floor(delaysMs.length * 0.95)] ?? 0;
    console.log(`      p50 ${delaysMs[delaysMs.length >> 1]} ms, p95 ${p95Ms} ms, worker ${Math.round(peakBytes / 1e6)} MB`);
    expect(p95Ms).to.be.below(20_000);
    expect(peakBytes).to.be.below(1_000_000_000);
  });

  /** When the live endpoint of an organization got an event first. */
  function receivedAt(organizationId: string, id: string): number | undefined {
    const receiver = live[organizations.indexOf(organizationId)];
    return receiver?.received.find(({ event }) => event.data.memberId === id)?.at;
  }
});
