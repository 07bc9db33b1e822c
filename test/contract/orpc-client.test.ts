import { createORPCClient, getEventMeta, ORPCError } from '@orpc/client';
import { RPCLink } from '@orpc/client/fetch';
import { expect } from 'chai';
import { routes } from '../../contract/index.ts';
import { noteDown } from '../../domain/outages/note-down.ts';
import { webhooksOn } from '../adapters/webhooks/support.ts';
import type { TestUser } from '../support/api.ts';
import { until } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';
import { recorder } from '../support/recorder.ts';
import { noteTokens } from '../support/run-secrets.ts';
import { useApi } from '../support/use-api.ts';

/** A client of which nothing is known at compile time: what it can call, the service says. */
type AnyClient = any;

describe('The client of oRPC as its authors publish it', () => {
  const { api, tenant } = useApi({ env: { CONTACT_EMAIL: 'operator@example.com', ...webhooksOn } });
  let platformAdmin: TestUser;
  let client: AnyClient;

  before(async () => {
    platformAdmin = await api.signUp();
    await api.makePlatformAdmin(platformAdmin);
    client = clientOf(tenant.owner.token);
  });

  function clientOf(token: string, headers: Record<string, string> = {}): AnyClient {
    return createORPCClient(
      new RPCLink({ url: `${api.url}/rpc`, headers: { authorization: `Bearer ${token}`, ...headers }, fetch: recorded }),
    );
  }

  it('calls every operation', async () => {
    const { organizationId, workspaceId } = tenant;
    const admin = clientOf(platformAdmin.token);
    const called = new Set<string>();
    const call = async (operation: string, input?: object, as: AnyClient = client): Promise<any> => {
      const procedure = operation.split('.').reduce((node, name) => node[name], as);
      const output = await procedure(input);
      called.add(operation);
      const route = routes.find(({ metadata }) => metadata.operation === operation);
      if (!route?.metadata.stream) expect(route?.responses[200].parse(output), operation).to.deep.equal(output);
      return output;
    };

    await call('system.health');
    await call('system.authConfig');
    await call('system.flags', { organizationId });
    await call('system.jobKinds', undefined);
    await call('contact.send', { email: 'ada@example.com', message: 'How do I raise my quota?' });
    expect(await call('account.me')).to.include({ id: tenant.owner.id });
    await call('organizations.usage', { organizationId });
    await call('organizations.usageHistory', { organizationId, by: 'workspace' });
    await call('organizations.costs', { organizationId, by: 'document' });
    await call('organizations.auditLog', { organizationId, limit: 1 });
    await call('organizations.auditFeed', { organizationId, limit: 1 });
    await call('organizations.setHold', { organizationId, reason: 'A case.' });
    await call('organizations.holds', { organizationId });
    await call('organizations.liftHold', { organizationId });
    await call('billing.status', { organizationId });
    await call('workspaces.list', { organizationId });
    await call('workspaces.get', { organizationId, slug: 'main' });
    const { id } = await call('workspaces.create', { organizationId, name: 'Second', slug: 'second' });
    await call('workspaces.update', { id, name: 'Renamed' });
    await call('workspaces.due', { id, documents: 30 });
    await call('workspaces.delete', { id });

    const stream = await call('jobs.stream', { organizationId });
    const bytes = new TextEncoder().encode('The mirrors are washed with deionised water.');
    const { document, upload } = await call('documents.createUpload', {
      ...{ workspaceId, name: 'note.txt', contentType: 'text/plain', size: bytes.length },
    });
    await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: bytes });
    await call('documents.complete', { id: document.id });
    await call('documents.get', { id: document.id });
    expect(await call('documents.update', { id: document.id, tags: ['mirror'] })).to.deep.include({ tags: ['mirror'] });
    await call('documents.list', { organizationId, workspaceId, limit: 5, tag: 'mirror' });
    await call('documents.downloadUrl', { id: document.id });
    await call('documents.versions', { id: document.id });
    const job = await call('jobs.create', { kind: 'document.index', documentId: document.id });
    const { items } = await call('jobs.createMany', { organizationId, jobs: [{ kind: 'text.embed', organizationId, texts: ['one'] }] });
    expect(items).to.have.length(1);
    for await (const event of stream) if (event.id === job.id && event.status === 'succeeded') break;
    await call('jobs.get', { id: job.id });
    await call('jobs.list', { organizationId, includeResult: true });
    await call('documents.text', { id: document.id });
    await call('documents.search', { workspaceId, query: 'washing mirrors', limit: 3 });
    const question = { workspaceId, question: 'How are mirrors washed?' };
    expect((await call('documents.ask', question)).sentences).to.have.length(1);
    const events: string[][] = [];
    for await (const event of await call('documents.askStream', question)) events.push([event.type, typeof getEventMeta(event)?.id]);
    expect(events).to.deep.equal(['sentence', 'end'].map((type) => [type, 'string']));
    expect(await refusal(call('jobs.cancel', { id: job.id }))).to.include({ code: 'CONFLICT', defined: true, status: 409 });
    expect(await refusal(call('jobs.retry', { id: job.id }))).to.include({ code: 'CONFLICT', defined: true, status: 409 });
    await call('documents.delete', { id: document.id });

    const key = await call('apiKeys.create', { organizationId, name: 'Import', permissions: ['job:read'] });
    await call('apiKeys.list', { organizationId });
    expect(await call('apiKeys.current', {}, clientOf(key.secret))).to.include({ id: key.id, organizationId, name: 'Import' });
    await call('apiKeys.update', { id: key.id, name: 'Renamed' });
    await call('apiKeys.rotate', { id: key.id, overlapSeconds: 0 });
    await call('apiKeys.revoke', { id: key.id });

    const receiver = await startReceiver();
    const endpoint = await call('webhooks.create', { organizationId, url: receiver.url, events: ['member.added'] });
    await call('webhooks.list', { organizationId });
    await call('webhooks.get', { id: endpoint.id });
    await call('webhooks.update', { id: endpoint.id, description: 'Members' });
    const rotated = await call('webhooks.rotateSecret', { id: endpoint.id });
    for (const { secret } of [endpoint, rotated]) noteTokens(secret.slice('whsec_'.length));
    const delivery = await call('webhooks.test', { id: endpoint.id });
    await call('webhooks.deliveries', { organizationId });
    await call('webhooks.delivery', { id: delivery.id });
    await until(() => receiver.received.length > 0);
    await call('webhooks.resend', { id: delivery.id });
    await call('webhooks.resendMany', { organizationId, dryRun: true });
    await call('webhooks.delete', { id: endpoint.id });
    await receiver.stop();

    await call('admin.system.status', undefined, admin);
    await call('admin.system.stuck', undefined, admin);
    await noteDown(api.database.db, { part: 'vision', cause: 'quota' }, { isProbe: false, probeDelaysMs: [60_000] });
    await call('admin.system.outages', undefined, admin);
    await call('admin.system.endOutage', { part: 'vision' }, admin);
    await call('admin.mails.list', { limit: 1 }, admin);
    await call('admin.auditLog', { organizationId, limit: 1 }, admin);
    await call('admin.flags.upsert', { key: 'search.rerank', enabled: true }, admin);
    await call('admin.flags.setOverride', { key: 'search.rerank', organizationId, enabled: false }, admin);
    await call('admin.flags.list', undefined, admin);
    await call('admin.flags.delete', { key: 'search.rerank' }, admin);
    await call('admin.organizations.list', { search: tenant.slug }, admin);
    const cancellation = call('admin.organizations.cancelSubscription', { organizationId }, admin);
    expect(await refusal(cancellation)).to.include({ code: 'PRECONDITION_FAILED', defined: true, status: 412 });
    const doomed = await api.createTenant();
    await call('admin.organizations.suspend', { organizationId: doomed.organizationId, reason: 'Not paid.' }, admin);
    await call('admin.organizations.liftSuspension', { organizationId: doomed.organizationId }, admin);
    const byHand = { plan: 'team', until: '2999-01-01T00:00:00.000Z', reason: 'A trial.' } as const;
    await call('admin.organizations.overridePlan', { organizationId: doomed.organizationId, ...byHand }, admin);
    await call('admin.organizations.endPlanOverride', { organizationId: doomed.organizationId }, admin);
    await call('admin.organizations.delete', { organizationId: doomed.organizationId, confirmSlug: doomed.slug }, admin);
    const left = await api.createTenant();
    await call('organizations.delete', { organizationId: left.organizationId, confirmSlug: left.slug }, clientOf(left.owner.token));

    const refused = ['jobs.cancel', 'jobs.retry', 'admin.organizations.cancelSubscription'];
    expect([...called, ...refused].sort()).to.deep.equal(routes.map(({ metadata }) => metadata.operation).sort());
  });

  it('gets errors with their code, status, message and data', async () => {
    const error = await refusal(client.workspaces.create({ organizationId: tenant.organizationId, name: 'a\u0007b', slug: 'x' }));
    expect(error).to.include({ code: 'BAD_REQUEST', status: 400, defined: true });
    expect(error.data.issues.map((issue: { path: string[] }) => issue.path)).to.deep.equal([['name'], ['slug']]);
    expect(error.data.issues[0].params).to.deep.equal({ reason: 'control_characters' });
    const anonymous = await refusal(clientOf('none').account.me());
    expect(anonymous).to.include({ code: 'UNAUTHORIZED', status: 401, defined: true, message: 'You must be signed in.' });
    expect(await refusal(client.nothing.here())).to.include({ code: 'NOT_FOUND', status: 404, defined: false });
    expect(await refusal(client.account.me('no object'))).to.include({ code: 'BAD_REQUEST', defined: true });
  });

  it('does something once for one Idempotency-Key', async () => {
    const once = clientOf(tenant.owner.token, { 'idempotency-key': 'a-key-of-this-test' });
    const input = { organizationId: tenant.organizationId, name: 'Once', slug: 'once' };
    expect(await once.workspaces.create(input)).to.deep.equal(await once.workspaces.create(input));
    expect(await refusal(once.workspaces.create({ ...input, slug: 'twice' }))).to.include({ code: 'BAD_REQUEST', defined: true });
  });

  describe('follows jobs', () => {
    const embed = (text: string) => client.jobs.create({ kind: 'text.embed', organizationId: tenant.organizationId, texts: [text] });

    it('and goes on where it stopped', async () => {
      const { organizationId } = tenant;
      const following = await client.jobs.stream({ organizationId });
      const first = await embed('one');
      let lastEventId: string | undefined;
      for await (const event of following) {
        if (event.id !== first.id || event.status !== 'succeeded') continue;
        expect(event.result.vectors).to.have.length(1);
        lastEventId = getEventMeta(event)?.id;
        break;
      }
      expect(lastEventId).to.be.a('string');
      const missed = await embed('two');
      await api.jobIn(tenant.owner.token, missed.id, ['succeeded']);
      const resumed = await client.jobs.stream({ organizationId }, { lastEventId });
      for await (const event of resumed) if (event.id === missed.id && event.status === 'succeeded') break;
    });

    it('five times at once; a sixth iterator throws the error', async () => {
      const { organizationId } = tenant;
      const member = await api.signUp();
      await api.addMember(organizationId, member, 'member');
      const theirs = clientOf(member.token);
      const iterators = [];
      for (let count = 0; count < 5; count++) iterators.push(await theirs.jobs.stream({ organizationId }));
      const job = await embed('three');
      for (const iterator of iterators) expect((await iterator.next()).value.id).to.equal(job.id);
      const sixth = await theirs.jobs.stream({ organizationId });
      expect(await refusal(sixth.next())).to.include({ code: 'TOO_MANY_REQUESTS', status: 429, defined: true });
      await Promise.all(iterators.map((iterator) => iterator.return()));
    });

    it('and is refused where it may not', async () => {
      const outsider = clientOf((await api.signUp()).token);
      expect(await refusal(outsider.jobs.stream({ organizationId: tenant.organizationId }))).to.include({
        code: 'FORBIDDEN',
        defined: true,
      });
      const madeUp = client.jobs.stream({ organizationId: tenant.organizationId }, { lastEventId: 'made-up' });
      expect(await refusal(madeUp)).to.include({ code: 'BAD_REQUEST', defined: true });
    });
  });
});

/** The error that a call ends with. */
async function refusal(call: Promise<unknown>): Promise<ORPCError<string, any>> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ORPCError) return error;
    throw error;
  }
  throw new Error('the call was not refused');
}

/** fetch, with each answer held to the OpenAPI document. */
async function recorded(request: Request, init: RequestInit): Promise<Response> {
  const response = await fetch(request, init);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  const { pathname: path } = new URL(request.url);
  const { method, headers: requestHeaders } = request;
  const { status, headers } = response;
  recorder.check({ method, path, requestHeaders, status, headers, body: isStream ? undefined : await response.clone().json() });
  return response;
}
