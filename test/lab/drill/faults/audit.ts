import { setTimeout as delay } from 'node:timers/promises';
import { startReceiver } from '../../../support/receiver.ts';
import type { Fault } from '../fault.ts';
import type { Service } from '../service.ts';
import type { Tenant } from '../tenant.ts';
import { restart } from './processes.ts';
import { untilNone } from './webhooks.ts';

/**
 * Two readers follow the audit log of a tenant at work, and an endpoint takes its events, while the API and the worker are killed: each reader
 * gets every entry once, by numbers without a gap, and the endpoint each at least once.
 */
export const auditKilled: Fault = {
  name: 'audit-killed',
  runs: { full: 2, short: 0 },
  async inject(context) {
    const { service, tenants } = context;
    const [tenant] = tenants;
    if (!tenant) return undefined;
    const receiver = await startReceiver();
    const { organizationId } = tenant;
    const endpoint = await tenant.call('POST', '/webhooks', { organizationId, url: receiver.url, events: ['audit.entry'] });
    const before = new Set(await listEntries(service, organizationId));
    const readers = [new Reader(tenant, 'limit=7'), new Reader(tenant, 'wait=1')];
    for (const part of ['api', 'worker', 'api', 'api'] as const) {
      await delay(Math.random() * 2_000);
      await restart(context, part, 200);
    }
    return {
      async afterRecovery() {
        const entries = await listEntries(service, organizationId);
        const sent = entries.filter((id) => !before.has(id));
        const arrived = () => new Set<string>(receiver.received.map(({ event }) => event.data.entryId));
        const found = await Promise.all(readers.map((reader) => reader.finish(entries)));
        const notArrived = await untilNone(() => new Set(sent).difference(arrived()).size);
        await tenant.call('DELETE', `/webhooks/${endpoint.body.id}`);
        await receiver.stop();
        const sum = (name: 'lost' | 'duplicated') => found.reduce((total, each) => total + each[name], 0);
        return { lost: notArrived + sum('lost'), duplicated: sum('duplicated') };
      },
    };
  },
};

async function listEntries({ db }: Service, organizationId: string): Promise<string[]> {
  const entries = await db.selectFrom('audit_entry').select('id').where('organization_id', '=', organizationId).execute();
  return entries.map(({ id }) => id);
}

/** Follows the audit log of a tenant as lines, from its beginning. */
class Reader {
  readonly #read: { id: string; sequence: number }[] = [];
  readonly #loop: Promise<void>;
  #isAtEnd = false;

  constructor(tenant: Tenant, query: string) {
    this.#loop = this.#follow(tenant, query);
    this.#loop.catch(() => {});
  }

  async #follow(tenant: Tenant, query: string): Promise<void> {
    const headers = { accept: 'application/x-ndjson' };
    for (;;) {
      const isLast = this.#isAtEnd;
      const after = this.#read.at(-1)?.sequence ?? 0;
      const { body } = await tenant.call('GET', `/organizations/${tenant.organizationId}/audit-feed?after=${after}&${query}`, undefined, {
        headers,
      });
      const lines: string[] = body.split('\n').filter(Boolean);
      this.#read.push(...lines.map((line) => JSON.parse(line)));
      if (isLast && lines.length === 0) return;
      await delay(20);
    }
  }

  /** Reads to the end. Returns how many entries or numbers were left out, and how many came more than once. */
  async finish(entries: string[]): Promise<{ lost: number; duplicated: number }> {
    this.#isAtEnd = true;
    await this.#loop;
    const ids = new Set(this.#read.map(({ id }) => id));
    const gaps = this.#read.filter(({ sequence }, index) => sequence !== index + 1);
    return { lost: new Set(entries).difference(ids).size + gaps.length, duplicated: this.#read.length - ids.size };
  }
}
