import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Fault, WebhookLoad, WebhookReport } from '../fault.ts';
import { type Receivers, startReceivers } from '../receivers.ts';
import type { Service } from '../service.ts';
import { Tenant } from '../tenant.ts';
import { watchMemory } from '../watch-memory.ts';

/** What a worker may use; it keeps up to 600 workflows in memory. */
const mostMb = 1_000;
/** What was sent so shortly before the worker is killed, or after its successor is there, waits for timeouts of Temporal. */
const disturbedMs = { before: 5_000, after: 30_000 };
/** So long after the last arrival what has not come is lost. */
const patienceMs = 180_000;

interface Organization {
  id: string;
  receivers: Receivers;
  /** When its live endpoint got an event first, by the number of the event. */
  arrivedAt: Map<number, number>;
}

interface Sent {
  number: number;
  organization: Organization;
  at: number;
}

/**
 * Nine of ten endpoints are dead, slow, redirecting or hostile, or at an address that is not allowed. Events come at a steady rate, and the
 * worker is killed in the midst: each live endpoint gets each event of its organization, and the others hold up nobody.
 */
export const webhooks: Fault = {
  name: 'webhooks',
  runs: { full: 1, short: 1 },
  isAlone: true,
  async inject({ service, webhooks: load }) {
    const organizations: Organization[] = [];
    try {
      for (let n = 0; n < load.endpoints; n += 10) organizations.push(await createOrganization(service));
      const stopWatching = watchMemory(service.stack, 'worker');
      const { sent, disturbed, seconds } = await emitAll(service, organizations, load);
      const lost = await countLost(sent);
      const report = { ...load, perSecond: round(sent.length / seconds), ...measure(sent, disturbed), workerMb: stopWatching() };
      const forbidden = organizations.reduce((total, { receivers }) => total + receivers.forbidden(), 0);
      return { lost, stuck: forbidden + Number(report.workerMb > mostMb), webhooks: report };
    } finally {
      await service.db.deleteFrom('webhook_endpoint').execute();
      for (const { receivers } of organizations) await receivers.stop();
    }
  },
};

async function createOrganization({ db, stack }: Service): Promise<Organization> {
  const { organizationId: id } = await Tenant.create(stack.apiUrl);
  const receivers = await startReceivers();
  const arrivedAt = new Map<number, number>();
  receivers.live.behave(({ event, at }) => {
    const number = Number(event.data.memberId);
    if (!arrivedAt.has(number)) arrivedAt.set(number, at);
    return {};
  });
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const common = { organization_id: id, secret, signature: 'v1' as const, events: ['member.added' as const] };
  // The API would refuse some of these addresses at once.
  const rows = receivers.urls.map((url) => ({ ...common, id: randomUUID(), url }));
  await db.insertInto('webhook_endpoint').values(rows).execute();
  return { id, receivers, arrivedAt };
}

/** Writes the events, each in a transaction, and kills the worker when half of them are written. `disturbed` says when deliveries waited for that. */
async function emitAll({ db, stack }: Service, organizations: Organization[], { events, perSecond }: WebhookLoad) {
  const sent: Sent[] = [];
  const disturbed = { from: Number.POSITIVE_INFINITY, to: Number.POSITIVE_INFINITY };
  const restart = async () => {
    disturbed.from = Date.now() - disturbedMs.before;
    await stack.kill('worker');
    await stack.start('worker');
    disturbed.to = Date.now() + disturbedMs.after;
  };
  let restarted: Promise<void> | undefined;
  const startedAt = Date.now();
  for (let number = 0; number < events; number++) {
    await delay(Math.max(0, startedAt + (number * 1_000) / perSecond - Date.now()));
    const organization = organizations[number % organizations.length] as Organization;
    const data = JSON.stringify({ memberId: String(number), userId: 'u', role: 'member' });
    await sql`select emit_webhook(${organization.id}, 'member.added', ${`drill ${number}`}, ${data}::jsonb)`.execute(db);
    sent.push({ number, organization, at: Date.now() });
    if (number === events >> 1) restarted = restart();
  }
  const seconds = (Date.now() - startedAt) / 1_000;
  await restarted;
  return { sent, disturbed, seconds };
}

const countLost = (sent: Sent[]) => untilNone(() => sent.filter(({ number, organization }) => !organization.arrivedAt.has(number)).length);

/** Waits until everything has arrived, or nothing does any more. Returns how many events have not. */
export async function untilNone(missing: () => number): Promise<number> {
  let left = missing();
  for (let changedAt = Date.now(); left > 0 && Date.now() - changedAt < patienceMs; await delay(200)) {
    const now = missing();
    if (now !== left) changedAt = Date.now();
    left = now;
  }
  return left;
}

/** From the commit to the first arrival, of what no kill disturbed; and what the kill cost. */
function measure(sent: Sent[], disturbed: { from: number; to: number }): Pick<WebhookReport, 'p50Ms' | 'p95Ms' | 'longestMs'> {
  const arrived = sent.flatMap(({ number, organization, at }) => {
    const arrivedAt = organization.arrivedAt.get(number);
    return arrivedAt === undefined ? [] : [{ at, delayMs: arrivedAt - at }];
  });
  const byDelay = arrived.sort((a, b) => a.delayMs - b.delayMs);
  const steady = byDelay.filter(({ at }) => at < disturbed.from || at > disturbed.to);
  const quantile = (share: number) => steady[Math.floor(steady.length * share)]?.delayMs ?? 0;
  return { p50Ms: quantile(0.5), p95Ms: quantile(0.95), longestMs: byDelay.at(-1)?.delayMs ?? 0 };
}

const round = (value: number): number => Math.round(value * 10) / 10;
