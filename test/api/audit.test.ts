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
    return callOver(api, made % 2 ? 'RPC' : 'REST', operation, input, { token });
  }
  async function ok(operation: string, input: Record<string, unknown>, token = tenant.owner.token): Promise<any> {
    const { status, body } = await call(operation, input, token);
    if (body.secret) noteTokens(body.secret.slice('whsec_'.length));
    if (status !== 200) throw new Error(`${operation} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  const newWorkspace = () => ok('workspaces.create', { organizationId: tenant.organizationId, name: 'W', slug: `w-${++made}` });
  const newUpload = () =>
    ok('documents.createUpload', { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 3 });
  const newJob = () => ok('jobs.create', { kind: 'text.embed', organizationId: tenant.organizationId, texts: ['a'] });
  const newFlag = () => ok('admin.flags.upsert', { key: `flag-${++made}` }, admin.token);
  const newEndpoint = () => ok('webhooks.create', endpointOf(tenant.organizationId));
  const endpointOf = (organizationId: string) => ({ organizationId, url: 'http://127.0.0.1:9/', events: ['job.failed'] });
  async function newFailedJob() {
    const job = await newJob();
    await api.database.db.updateTable('job').set({ status: 'failed', finished_at: new Date() }).where('id', '=', job.id).execute();
    return job;
  }

  /**
   * For each action: how to get ready, then the one request that is audited. `target` reads the audited thing's id from its answer.
   */
  interface Change {
    operation: string;
    prepare(): Promise<Record<string, unknown>>;
    target(answer: any): string;
    /** Where the entry stands, and who is allowed to do it. */
    by: 'owner' | 'admin';
    log: 'organization' | 'none';
    /** What must be as it was when the change is undone. */
    state(input: Record<string, unknown>): Promise<unknown>;
  }
  const id = (answer: { id: string }) => answer.id;
  const rows = (table: string, column: string) => async (input: Record<string, unknown>) =>
    (
      await sql`select * from ${sql.table(table)} where ${sql.ref(column)} = ${input.id ?? input.key ?? input.slug ?? ''}`.execute(
        api.database.db,
      )
    ).rows;
  const counted = (table: string) => async () => (await sql`select count(*) as n from ${sql.table(table)}`.execute(api.database.db)).rows;
  const own = { by: 'owner', log: 'organization' } as const;
  const changes: Record<Action, Change> = {
    'workspace.create': {
      operation: 'workspaces.create',
      prepare: async () => ({ organizationId: tenant.organizationId, name: 'W', slug: `w-${++made}` }),
      target: id,
      state: rows('workspace', 'slug'),
      ...own,
    },
    'workspace.update': {
      operation: 'workspaces.update',
      prepare: async () => ({ id: (await newWorkspace()).id, name: 'Renamed' }),
      target: id,
      state: rows('workspace', 'id'),
      ...own,
    },
    'workspace.delete': {
      operation: 'workspaces.delete',
      prepare: async () => ({ id: (await newWorkspace()).id }),
      target: id,
      state: rows('workspace', 'id'),
      ...own,
    },
    'document.create': {
      operation: 'documents.createUpload',
      prepare: async () => ({ workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 3 }),
      target: (answer) => answer.document.id,
      state: counted('document'),
      ...own,
    },
    'document.complete': {
      operation: 'documents.complete',
      prepare: async () => {
        const { document, upload } = await newUpload();
        await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: 'abc' });
        return { id: document.id };
      },
      target: id,
      state: rows('document', 'id'),
      ...own,
    },
    'document.update': {
      operation: 'documents.update',
      prepare: async () => ({ id: (await newUpload()).document.id, name: 'b.txt', tags: ['new'] }),
      target: id,
      state: rows('document', 'id'),
      ...own,
    },
    'document.delete': {
      operation: 'documents.delete',
      prepare: async () => ({ id: (await newUpload()).document.id }),
      target: id,
      state: rows('document', 'id'),
      ...own,
    },
    'job.create': {
      operation: 'jobs.create',
      prepare: async () => ({ kind: 'text.embed', organizationId: tenant.organizationId, texts: ['a'] }),
      target: id,
      state: counted('credit_entry'),
      ...own,
    },
    'job.cancel': {
      operation: 'jobs.cancel',
      prepare: async () => ({ id: (await newJob()).id }),
      target: id,
      state: rows('job', 'id'),
      ...own,
    },
    'job.retry': {
      operation: 'jobs.retry',
      prepare: async () => ({ id: (await newFailedJob()).id }),
      target: id,
      state: counted('job'),
      ...own,
    },
    'webhook.create': {
      operation: 'webhooks.create',
      prepare: async () => endpointOf(tenant.organizationId),
      target: id,
      state: counted('webhook_endpoint'),
      ...own,
    },
    'webhook.update': {
      operation: 'webhooks.update',
      prepare: async () => ({ id: (await newEndpoint()).id, description: 'Failures' }),
      target: id,
      state: rows('webhook_endpoint', 'id'),
      ...own,
    },
    'webhook.rotate': {
      operation: 'webhooks.rotateSecret',
      prepare: async () => ({ id: (await newEndpoint()).id }),
      target: id,
      state: rows('webhook_endpoint', 'id'),
      ...own,
    },
    'webhook.delete': {
      operation: 'webhooks.delete',
      prepare: async () => ({ id: (await newEndpoint()).id }),
      target: id,
      state: rows('webhook_endpoint', 'id'),
      ...own,
    },
    'webhook.test': {
      operation: 'webhooks.test',
      prepare: async () => ({ id: (await newEndpoint()).id }),
      target: ({ endpointId }) => endpointId,
      state: counted('webhook_delivery'),
      ...own,
    },
    'flag.create': {
      operation: 'admin.flags.upsert',
      prepare: async () => ({ key: `flag-${++made}` }),
      target: (answer) => answer.key,
      state: rows('feature_flag', 'key'),
      by: 'admin',
      log: 'none',
    },
    'flag.update': {
      operation: 'admin.flags.upsert',
      prepare: async () => ({ key: (await newFlag()).key, enabled: true }),
      target: (answer) => answer.key,
      state: rows('feature_flag', 'key'),
      by: 'admin',
      log: 'none',
    },
    'flag.override': {
      operation: 'admin.flags.setOverride',
      prepare: async () => ({ key: (await newFlag()).key, organizationId: tenant.organizationId, enabled: true }),
      target: (answer) => answer.key,
      state: rows('feature_flag_override', 'flag_key'),
      by: 'admin',
      log: 'organization',
    },
    'flag.delete': {
      operation: 'admin.flags.delete',
      prepare: async () => ({ key: (await newFlag()).key }),
      target: (answer) => answer.key,
      state: rows('feature_flag', 'key'),
      by: 'admin',
      log: 'none',
    },
    'outage.end': {
      operation: 'admin.system.endOutage',
      prepare: async () => {
        await noteDown(api.database.db, { part: 'chat', cause: 'quota' }, { isProbe: false, probeDelaysMs: [60_000] });
        return { part: 'chat' };
      },
      target: ({ part }) => part,
      state: rows('provider_outage', 'part'),
      by: 'admin',
      log: 'none',
    },
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
