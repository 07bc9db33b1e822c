import { expect } from 'chai';
import { sql } from 'kysely';
import { impersonatedAccess } from '../../contract/access.ts';
import { routes } from '../../contract/index.ts';
import { noteDown } from '../../domain/outages/note-down.ts';
import { webhooksOn } from '../adapters/webhooks/support.ts';
import type { Tenant, TestUser } from '../support/api.ts';
import { noteTokens } from '../support/run-secrets.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

/** Every action of a member or platform admin that the service's own operations write; better-auth's are tested with it. */
const actions = [
  'workspace.create',
  'workspace.update',
  'workspace.delete',
  'document.create',
  'document.complete',
  'document.update',
  'document.delete',
  'job.create',
  'job.cancel',
  'job.retry',
  'webhook.create',
  'webhook.update',
  'webhook.rotate',
  'webhook.delete',
  'webhook.test',
  'flag.create',
  'flag.update',
  'flag.override',
  'flag.delete',
  'outage.end',
] as const;
type Action = (typeof actions)[number];

describe('The audit log of the service itself', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false', ...webhooksOn } });
  let admin: TestUser;
  let tenant: Tenant;
  let made = 0;

  before(async () => {
    [admin, tenant] = await Promise.all([api.signUp('Admin'), api.createTenant()]);
    await api.makePlatformAdmin(admin);
  });

  const entries = () => api.database.db.selectFrom('audit_entry').selectAll().orderBy('created_at').orderBy('id').execute();

  async function call(operation: string, input: Record<string, unknown>, token: string) {
    return callOver(api, 'REST', operation, input, { token });
  }
  async function ok(operation: string, input: Record<string, unknown>, token = tenant.owner.token): Promise<any> {
    const { status, body } = await call(operation, input, token);
    if (body.secret) noteTokens(body.secret.slice('whsec_'.length));
    if (status !== 200) throw new Error(`${operation} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  const newWorkspace = async () => ok('workspaces.create', await workspace());
  const newUpload = async () => ok('documents.createUpload', await file());
  const newJob = async () => ok('jobs.create', await embed());
  const newFlag = () => ok('admin.flags.upsert', { key: `flag-${++made}` }, admin.token);
  const newEndpoint = () => ok('webhooks.create', endpointOf(tenant.organizationId));
  const endpointOf = (organizationId: string) => ({ organizationId, url: 'http://127.0.0.1:9/', events: ['job.failed'] });
  async function newFailedJob() {
    const job = await newJob();
    await api.database.db.updateTable('job').set({ status: 'failed', finished_at: new Date() }).where('id', '=', job.id).execute();
    return job;
  }

  /** For each action: how to get ready, then the one request that is audited. */
  interface Change {
    operation: string;
    prepare(): Promise<Record<string, unknown>>;
    /** What must be as it was when the change is undone. */
    state(input: Record<string, unknown>): Promise<unknown>;
    /** Reads the id of what is audited from the answer. */
    target(answer: any): string;
    by: 'owner' | 'admin';
    /** Where the entry stands. */
    log: 'organization' | 'none';
  }
  type Of = [operation: string, prepare: Change['prepare'], state: Change['state'], target?: Change['target']];
  const id = (answer: { id: string }) => answer.id;
  const key = (answer: { key: string }) => answer.key;
  const own = (...[operation, prepare, state, target = id]: Of): Change => ({
    operation,
    prepare,
    state,
    target,
    by: 'owner',
    log: 'organization',
  });
  const admins = (...[operation, prepare, state, target = key]: Of): Change => ({
    operation,
    prepare,
    state,
    target,
    by: 'admin',
    log: 'none',
  });
  const rows =
    (table: string, column = 'id') =>
    async (input: Record<string, unknown>) => {
      const named = input.id ?? input.key ?? input.slug ?? input.part ?? '';
      return (await sql`select * from ${sql.table(table)} where ${sql.ref(column)} = ${named}`.execute(api.database.db)).rows;
    };
  const counted = (table: string) => async () => (await sql`select count(*) as n from ${sql.table(table)}`.execute(api.database.db)).rows;
  const withId =
    (made: () => Promise<any>, more: object = {}) =>
    async () => ({ id: (await made()).id, ...more });
  const newDocument = async () => (await newUpload()).document;
  async function uploaded() {
    const { document, upload } = await newUpload();
    await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: 'abc' });
    return document;
  }
  const embed = async () => ({ kind: 'text.embed', organizationId: tenant.organizationId, texts: ['a'] });
  const workspace = async () => ({ organizationId: tenant.organizationId, name: 'W', slug: `w-${++made}` });
  const file = async () => ({ workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 3 });
  const flag = async (more: object = {}) => ({ key: (await newFlag()).key, ...more });
  async function outage() {
    await noteDown(api.database.db, { part: 'chat', cause: 'quota' }, { isProbe: false, probeDelaysMs: [60_000] });
    return { part: 'chat' };
  }

  const changes: Record<Action, Change> = {
    'workspace.create': own('workspaces.create', workspace, rows('workspace', 'slug')),
    'workspace.update': own('workspaces.update', withId(newWorkspace, { name: 'Renamed' }), rows('workspace')),
    'workspace.delete': own('workspaces.delete', withId(newWorkspace), rows('workspace')),
    'document.create': own('documents.createUpload', file, counted('document'), ({ document }) => document.id),
    'document.complete': own('documents.complete', withId(uploaded), rows('document')),
    'document.update': own('documents.update', withId(newDocument, { name: 'b.txt', tags: ['new'] }), rows('document')),
    'document.delete': own('documents.delete', withId(newDocument), rows('document')),
    'job.create': own('jobs.create', embed, counted('credit_entry')),
    'job.cancel': own('jobs.cancel', withId(newJob), rows('job')),
    'job.retry': own('jobs.retry', withId(newFailedJob), counted('job')),
    'webhook.create': own('webhooks.create', async () => endpointOf(tenant.organizationId), counted('webhook_endpoint')),
    'webhook.update': own('webhooks.update', withId(newEndpoint, { description: 'Failures' }), rows('webhook_endpoint')),
    'webhook.rotate': own('webhooks.rotateSecret', withId(newEndpoint), rows('webhook_endpoint')),
    'webhook.delete': own('webhooks.delete', withId(newEndpoint), rows('webhook_endpoint')),
    'webhook.test': own('webhooks.test', withId(newEndpoint), counted('webhook_delivery'), ({ endpointId }) => endpointId),
    'flag.create': admins('admin.flags.upsert', async () => ({ key: `flag-${++made}` }), rows('feature_flag', 'key')),
    'flag.update': admins('admin.flags.upsert', () => flag({ enabled: true }), rows('feature_flag', 'key')),
    'flag.override': {
      ...admins(
        'admin.flags.setOverride',
        () => flag({ organizationId: tenant.organizationId, enabled: true }),
        rows('feature_flag_override', 'flag_key'),
      ),
      log: 'organization',
    },
    'flag.delete': admins('admin.flags.delete', flag, rows('feature_flag', 'key')),
    'outage.end': admins('admin.system.endOutage', outage, rows('provider_outage', 'part'), ({ part }) => part),
  };

  for (const action of actions) {
    const { operation, prepare, target, by, log, state } = changes[action];
    const actor = () => (by === 'admin' ? admin : tenant.owner);

    it(`has ${action} of ${operation}, with who did it and to what`, async () => {
      const input = await prepare();
      const earlier = (await entries()).length;
      const answer = await ok(operation, input, actor().token);
      const written = (await entries()).slice(earlier);
      expect(written).to.have.length(1);
      expect(written[0]).to.deep.include({
        action,
        organization_id: log === 'organization' ? tenant.organizationId : null,
        actor_id: actor().id,
        actor_email: actor().email,
        impersonated_by: null,
        target_type: action.split('.')[0],
        target_id: target(answer),
      });
    });

    it(`has ${action} in the transaction of its change: neither is there without the other`, async () => {
      const input = await prepare();
      const before = await state(input);
      const earlier = (await entries()).length;
      await refuseEntries(action, async () => {
        const { status } = await call(operation, input, actor().token);
        expect(status).to.equal(500);
      });
      expect(await state(input)).to.deep.equal(before);
      expect(await entries()).to.have.length(earlier);
      expect(await api.database.db.selectFrom('idempotency_key').selectAll().execute()).to.deep.equal([]);
      await ok(operation, input, actor().token);
    });
  }

  const isAllowed = (operation: string) => {
    const route = routes.find(({ metadata }) => metadata.operation === operation);
    return route !== undefined && impersonatedAccess.includes(route.metadata.access);
  };

  it('names the platform admin behind an impersonated session, beside the member', async () => {
    const body = { userId: tenant.owner.id };
    const { headers, status } = await api.request('POST', '/api/auth/admin/impersonate-user', { token: admin.token, body });
    expect(status).to.equal(200);
    const token = headers.get('set-auth-token') ?? '';
    const earlier = (await entries()).length;
    const allowed = actions.filter((action) => changes[action].by === 'owner' && isAllowed(changes[action].operation));
    for (const action of allowed) {
      const { operation, prepare } = changes[action];
      await ok(operation, await prepare(), token);
    }
    const written = (await entries()).slice(earlier).filter(({ impersonated_by }) => impersonated_by !== null);
    expect(allowed).to.include.members(['workspace.create', 'document.create', 'job.create']);
    expect(written.map(({ action }) => action)).to.deep.equal(allowed);
    for (const entry of written) {
      expect(entry).to.include({ actor_id: tenant.owner.id, actor_email: tenant.owner.email, impersonated_by: admin.id });
    }
    const shown = await ok('organizations.auditLog', { organizationId: tenant.organizationId, limit: 1 });
    expect(shown.entries[0]).to.deep.include({ impersonatedBy: admin.id, actorId: tenant.owner.id });
  });

  it('has nothing of what was refused', async () => {
    const earlier = (await entries()).length;
    const stranger = await api.signUp();
    for (const action of actions) {
      const { operation, prepare } = changes[action];
      const input = await prepare();
      const before = (await entries()).length;
      expect((await call(operation, input, stranger.token)).status, operation).to.equal(403);
      expect(await entries()).to.have.length(before);
    }
    expect((await entries()).length).to.be.greaterThan(earlier);
  });

  it('knows every operation that writes: none is left out of these tests', () => {
    const elsewhere = [
      ...[
        'contact.send',
        'documents.search',
        'documents.ask',
        'documents.askStream',
        'admin.organizations.delete',
        'organizations.delete',
        'admin.organizations.cancelSubscription',
      ],
      // test/api/legal-hold.test.ts
      ...['organizations.setHold', 'organizations.liftHold'],
      // test/api/suspension.test.ts
      ...['admin.organizations.suspend', 'admin.organizations.liftSuspension'],
      // test/api/plan-override.test.ts
      ...['admin.organizations.overridePlan', 'admin.organizations.endPlanOverride'],
      // test/api/create-many-jobs.test.ts
      'jobs.createMany',
      // test/api/api-keys.test.ts and test/adapters/webhooks/deliveries.test.ts
      ...['apiKeys.create', 'apiKeys.update', 'apiKeys.rotate', 'apiKeys.revoke', 'webhooks.resend', 'webhooks.resendMany'],
    ];
    const writing = routes.filter(({ method }) => method !== 'GET').map(({ metadata }) => metadata.operation);
    const tested = new Set(Object.values(changes).map(({ operation }) => operation));
    expect(writing.filter((operation) => !tested.has(operation)).sort()).to.deep.equal(elsewhere.sort());
  });

  /** Makes the database refuse entries of one action while `work` runs. */
  async function refuseEntries(action: string, work: () => Promise<void>): Promise<void> {
    const { pool } = api.database;
    await pool.query(
      `create function refuse_entry() returns trigger language plpgsql as $$ begin raise exception 'refused by a test'; end $$`,
    );
    await pool.query(
      `create trigger refuse_entry before insert on audit_entry for each row when (new.action = '${action}') execute function refuse_entry()`,
    );
    try {
      await work();
    } finally {
      await pool.query('drop trigger refuse_entry on audit_entry');
      await pool.query('drop function refuse_entry');
    }
  }
});
