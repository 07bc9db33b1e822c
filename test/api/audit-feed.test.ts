import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { KeyPermission } from '../../contract/access.ts';
import { webhookEvents } from '../../contract/webhook-events.ts';
import { addEndpoint, call, deliveriesOf, webhooksOn } from '../adapters/webhooks/support.ts';
import { createKey } from '../support/api-keys.ts';
import { until } from '../support/processes.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { expectOk } from '../support/requests.ts';
import { useApi } from '../support/use-api.ts';

interface Entry {
  id: string;
  sequence: number;
  action: string;
}

describe('The audit log, copied out', () => {
  const used = useApi({ env: webhooksOn, tenant: 'of each test' });
  const { api } = used;
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.stop());

  const feed = async (token: string, query = '', headers: Record<string, string> = {}) =>
    expectOk(api.request('GET', `/api/v1/organizations/${used.tenant.organizationId}/audit-feed${query}`, { token, headers }));
  const rename = (name: string) =>
    api.request('PATCH', `/api/v1/workspaces/${used.tenant.workspaceId}`, { token: used.tenant.owner.token, body: { name } });

  it('goes on where a key that may do nothing else has left off, as JSON and as lines', async () => {
    const { token } = await createKey(api, used.tenant, { permissions: ['auditLog:read'] });
    const { body: first } = await feed(token, '?limit=2');
    expect(first.entries.map(({ sequence }: Entry) => sequence)).to.deep.equal([1, 2]);
    expect(first.last).to.equal(2);
    const { body: rest } = await feed(token, `?after=${first.last}`);
    expect((await feed(token, `?after=${rest.last}`)).body).to.deep.equal({ entries: [], last: rest.last });
    await rename('Another name');

    const { body: lines, headers } = await feed(token, `?after=${rest.last}`, { accept: 'application/x-ndjson' });
    expect(headers.get('content-type')).to.match(/^application\/x-ndjson/);
    const [entry, ...others] = String(lines).trimEnd().split('\n');
    expect(others).to.deep.equal([]);
    expect(JSON.parse(entry ?? '')).to.deep.include({ sequence: rest.last + 1, action: 'workspace.update' });
    expect((await feed(token, `?after=${rest.last + 1}`, { accept: 'application/x-ndjson' })).body).to.equal('');
  });

  it('refuses at once who is ahead of it, as after a restore, in each form', async () => {
    const { organizationId, owner } = used.tenant;
    const { last } = (await feed(owner.token)).body;
    for (const accept of ['application/json', 'application/x-ndjson'])
      for (const wait of [0, 30]) {
        const path = `/api/v1/organizations/${organizationId}/audit-feed?after=${last + 1}&wait=${wait}`;
        const { status, body } = await api.request('GET', path, { token: owner.token, headers: { accept } });
        expect(status, accept).to.equal(400);
        expect(body).to.deep.include({
          code: 'BAD_REQUEST',
          message: `The last entry has the number ${last}, and \`after\` is ${last + 1}.`,
        });
      }
  });

  it('waits for the next entry as long as it is told, and no longer than its reader may read it', async () => {
    const { tenant } = used;
    const key = await createKey(api, tenant, { permissions: ['auditLog:read'] });
    const { last } = (await feed(key.token)).body;
    const next = (after: number) => feed(key.token, `?after=${after}&wait=30`);
    const [{ body }] = await Promise.all([next(last), delay(1_500).then(() => rename('Another name'))]);
    expect(body.entries.map(({ action }: Entry) => action)).to.deep.equal(['workspace.update']);
    expect((await feed(key.token, `?after=${body.last}&wait=1`)).body).to.deep.equal({ entries: [], last: body.last });

    const path = `/api/v1/organizations/${tenant.organizationId}/audit-feed?after=${body.last}&wait=30`;
    const refused = api.request('GET', path, { token: key.token });
    const revoke = () => api.request('DELETE', `/api/v1/api-keys/${key.id}`, { token: tenant.owner.token });
    const [{ status }] = await Promise.all([refused, delay(1_500).then(revoke)]);
    expect(status).to.equal(401);
  });

  it('is not in the deliveries that are shown to a key that may not read it', async () => {
    const { tenant } = used;
    await addEndpoint(api, tenant, { url: receiver.url, events: ['audit.entry', 'document.ready'] });
    await api.upload(tenant, { bytes: 'A text.' });
    const { id } = (await deliveriesOf(api, tenant)).find(({ event }) => event === 'audit.entry');
    const shownTo = async (permissions: KeyPermission[]) => {
      const { token } = await createKey(api, tenant, { permissions });
      const get = (path: string) => api.request('GET', `/api/v1/webhook-deliveries${path}`, { token });
      const { body } = await expectOk(get(`?organizationId=${tenant.organizationId}`));
      return { events: new Set(body.items.map(({ event }: { event: string }) => event)), one: (await get(`/${id}`)).status };
    };
    expect(await shownTo(['webhook:read'])).to.deep.equal({ events: new Set(['document.ready']), one: 403 });
    expect(await shownTo(['webhook:read', 'auditLog:read'])).to.deep.equal({
      events: new Set(['audit.entry', 'document.ready']),
      one: 200,
    });
  });

  it('comes to an endpoint that asks for it, also what is done to other endpoints, and ends', async () => {
    const { tenant } = used;
    const { id: first } = await addEndpoint(api, tenant, { url: `${receiver.url}first`, events: ['audit.entry'] });
    const { id: second } = await addEndpoint(api, tenant, { url: receiver.url, events: ['audit.entry'] });
    await rename('Another name');
    const sent = () => receiver.received.map(({ event }) => event);
    const isRename = ({ data }: { data: { action: string } }) => data.action === 'workspace.update';
    await until(() => sent().filter(isRename).length === 2);
    expect(sent().find(isRename)?.data).to.deep.include({
      ...{ organizationId: tenant.organizationId, actorId: tenant.owner.id, actorEmail: tenant.owner.email, impersonatedBy: null },
      ...{ targetType: 'workspace', targetId: tenant.workspaceId },
    });
    const schema = webhookEvents.find(({ name }) => name === 'audit.entry')?.schema;
    for (const event of sent()) expect(schema?.parse(event)).to.deep.equal(event);

    // Disables both, each of which is an entry.
    receiver.behave({ status: 410 });
    await rename('Yet another');
    const isDisabled = ({ enabled }: { enabled: boolean }) => !enabled;
    await until(async () => (await call(api, tenant, 'GET', `/webhooks?organizationId=${tenant.organizationId}`)).every(isDisabled));
    await until(async () => (await deliveriesOf(api, tenant)).every(({ status }) => status !== 'pending'));
    const { body } = await feed(tenant.owner.token);
    const disabled = body.entries.filter(({ action }: Entry) => action === 'webhook.disable');
    expect(disabled.map(({ targetId }: { targetId: string }) => targetId)).to.have.members([first, second]);
  });
});
