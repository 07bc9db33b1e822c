import { expect } from 'chai';
import { sql } from 'kysely';
import { hasPermission } from '../../api/auth/permissions.ts';
import { type KeyPermission, keyPermissions, type Permission } from '../../contract/access.ts';
import { errorCodes } from '../../contract/errors.ts';
import { routes } from '../../contract/index.ts';
import type { AnyRoute } from '../../contract/route.ts';
import { createRows, inputsFor, type TenantRows } from '../contract/support/rows.ts';
import type { Answer, TestUser } from '../support/api.ts';
import { createKey, type KeyOptions, type TestKey } from '../support/api-keys.ts';
import { expectOk } from '../support/requests.ts';
import { callOver, type Transport, transports } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

const accessOf = ({ metadata: { access } }: AnyRoute) => access;
const guarded = routes.filter((route) => accessOf(route) !== 'public');
const forKeys = guarded.filter((route) => accessOf(route) === 'member' || keyPermissions.includes(accessOf(route) as KeyPermission));
const notForKeys = guarded.filter((route) => !forKeys.includes(route) && accessOf(route) !== 'api-key');
/** These have no row of one workspace: `workspaces.list` shows a key its own one. */
const ofTheOrganization = new Set([
  ...[
    'organizations.usage',
    'organizations.usageHistory',
    'organizations.costs',
    'organizations.auditLog',
    'organizations.auditFeed',
    'organizations.holds',
    'billing.status',
    'workspaces.create',
  ],
  ...routes.filter(({ metadata }) => metadata.access === 'webhook:read').map(({ metadata }) => metadata.operation),
]);

for (const transport of transports) {
  describe(`An API key over ${transport}`, () => {
    const { api } = useApi({ env: { WORKER_ENABLED: 'false' } });
    let rows: TenantRows;
    let others: TenantRows;
    /** Rows in a second workspace of the same organization. */
    let beside: TenantRows;
    /** The job of `rows` is filed under no workspace. */
    let jobInWorkspace: string;
    let everywhere: TestKey;
    let inWorkspace: TestKey;
    let ofOthers: TestKey;
    const lacking = new Map<string, TestKey>();
    const dead: Record<string, TestKey> = {};
    let ofDemoted: TestKey;

    before(async function () {
      this.timeout(120_000);
      [rows, others] = [await createRows(api), await createRows(api)];
      const { tenant, organizationId, workspaceId } = rows;
      beside = await rowsBeside();
      jobInWorkspace = await createJob(workspaceId);
      const key = (options: KeyOptions = {}) => createKey(api, tenant, options);
      everywhere = await key();
      inWorkspace = await key({ workspaceId });
      ofOthers = await createKey(api, others.tenant);
      for (const permission of keyPermissions)
        lacking.set(permission, await key({ permissions: keyPermissions.filter((other) => other !== permission) }));
      const admin = async () => {
        const user = await api.signUp();
        await api.addMember(organizationId, user, 'admin');
        return user;
      };
      const { db } = api.database;
      const [demoted, left, banned, gone] = [await admin(), await admin(), await admin(), await admin()] as const;
      ofDemoted = await key({ by: demoted });
      await db.updateTable('member').set({ role: 'member' }).where('userId', '=', demoted.id).execute();
      dead['of a creator who has left'] = await key({ by: left });
      await db.deleteFrom('member').where('userId', '=', left.id).execute();
      dead['of a creator who is banned'] = await key({ by: banned });
      await db.updateTable('user').set({ banned: true }).where('id', '=', banned.id).execute();
      dead['of a creator who is gone'] = await key({ by: gone });
      await db.deleteFrom('user').where('id', '=', gone.id).execute();
      const expired = await key();
      dead['that has expired'] = expired;
      await db.updateTable('api_key').set({ expires_at: sql`now()` }).where('id', '=', expired.id).execute();
      const revoked = await key();
      dead['that is revoked'] = revoked;
      await expectOk(api.request('DELETE', `/api/v1/api-keys/${revoked.id}`, { token: tenant.owner.token }));
      const rotated = await key();
      dead['from before a rotation without overlap'] = rotated;
      await expectOk(
        api.request('POST', `/api/v1/api-keys/${rotated.id}/rotate`, { token: tenant.owner.token, body: { overlapSeconds: 0 } }),
      );
      dead['of a deleted organization'] = await ofDeletedOrganization();
      dead['of a deleted workspace'] = await ofDeletedWorkspace();
      const { hash } = await db.selectFrom('api_key').select('hash').where('id', '=', everywhere.id).executeTakeFirstOrThrow();
      dead['that is only the stored hash of one'] = { id: 'none', token: hash };
      dead['with a character changed'] = { id: 'none', token: everywhere.token.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')) };
    });

    for (const route of guarded) {
      const { operation } = route.metadata;

      it(`that is none any more may not call ${operation}`, async () => {
        for (const [what, key] of Object.entries(dead)) refused(await call(route, inputsFor(route, rows)[0], key), 'UNAUTHORIZED', what);
      });
    }

    for (const route of notForKeys) {
      it(`may not call ${route.metadata.operation}, which is for people`, async () => {
        for (const input of inputsFor(route, rows)) refused(await call(route, input, everywhere), 'FORBIDDEN');
      });
    }

    for (const route of forKeys) {
      const { operation, access } = route.metadata;

      it(`of another organization may not call ${operation}`, async () => {
        for (const input of inputsFor(route, rows)) refused(await call(route, input, ofOthers), 'FORBIDDEN');
        for (const input of inputsFor(route, others)) {
          const answer = await call(route, input, everywhere);
          refused(answer, 'FORBIDDEN');
          expect(answer.body.message, 'nothing of the row').to.equal(errorCodes.FORBIDDEN.message);
        }
      });

      it(`of one workspace may not call ${operation} in another`, async () => {
        if (operation === 'workspaces.list') {
          const { body } = await call(route, { organizationId: rows.organizationId }, inWorkspace);
          expect(body.map(({ id }: { id: string }) => id)).to.deep.equal([rows.workspaceId]);
          return;
        }
        for (const input of inputsFor(route, beside)) refused(await call(route, input, inWorkspace), 'FORBIDDEN');
        if (ofTheOrganization.has(operation) || operation === 'jobs.get')
          for (const input of inputsFor(route, rows)) {
            const answer = await call(route, input, inWorkspace);
            refused(answer, 'FORBIDDEN');
            expect(answer.body.message).to.match(/^This API key reaches one workspace only/);
          }
      });

      if (access !== 'member') {
        it(`without ${access} may not call ${operation}`, async () => {
          for (const input of inputsFor(route, rows)) {
            const answer = await call(route, input, lacking.get(access));
            refused(answer, 'FORBIDDEN');
            expect(answer.body.message).to.match(new RegExp(`^This needs the permission ${access}, which this API key `));
          }
        });
      }

      it(`of a creator who was demoted may call ${operation} only if they may`, async () => {
        const may = access === 'member' || hasPermission(['member'], access as Permission);
        for (const input of inputsFor(route, others)) refused(await call(route, input, ofDemoted), 'FORBIDDEN');
        if (may) return;
        for (const input of inputsFor(route, rows)) refused(await call(route, input, ofDemoted), 'FORBIDDEN');
      });
    }

    it('learns of itself where it may work, and what it may do there now', async () => {
      const { organizationId, workspaceId, tenant } = rows;
      const current = (token: string) => callOver(api, transport, 'apiKeys.current', {}, { token });
      const of = async (key: TestKey) => (await expectOk(current(key.token))).body;
      const permissions = [...keyPermissions];
      const all = { name: 'Test', organizationId, workspaceId: null, permissions, requestsPerMinute: 600 };
      const { expiresAt, ...whole } = await of(everywhere);
      expect(whole).to.deep.equal({ ...all, id: everywhere.id });
      expect(Date.parse(expiresAt) - Date.now()).to.be.within(89 * 86_400_000, 90 * 86_400_000);
      expect(await of(inWorkspace)).to.deep.include({ ...all, id: inWorkspace.id, workspaceId });
      expect(await of(ofOthers)).to.include({ id: ofOthers.id, organizationId: others.organizationId });
      const ofMember = permissions.filter((permission) => hasPermission(['member'], permission));
      expect((await of(ofDemoted)).permissions)
        .to.deep.equal(ofMember)
        .and.to.have.length.below(permissions.length);
      expect((await of(lacking.get('job:read') as TestKey)).permissions).to.not.include('job:read');
      refused(await current(tenant.owner.token), 'FORBIDDEN');
    });

    it('that was rotated or never expires is told the end of the secret that it calls with', async () => {
      const { tenant } = rows;
      const key = await createKey(api, tenant, { expiresInDays: null });
      const rotate = api.request('POST', `/api/v1/api-keys/${key.id}/rotate`, { token: tenant.owner.token, body: { overlapSeconds: 60 } });
      const { body: renewed } = await expectOk(rotate);
      const endOf = async (token: string) => (await expectOk(callOver(api, transport, 'apiKeys.current', {}, { token }))).body.expiresAt;
      expect(await endOf(key.token))
        .to.equal(renewed.overlapEndsAt)
        .and.to.be.a('string');
      expect(await endOf(renewed.secret)).to.equal(null);
    });

    it('may call every other operation of its organization and its workspace', async () => {
      // What deletes comes last; one input of each is enough to be let in.
      const last = ['documents.delete', 'workspaces.delete'];
      const ordered = [...forKeys]
        .sort((a, b) => last.indexOf(a.metadata.operation) - last.indexOf(b.metadata.operation))
        .filter(({ metadata }) => !metadata.stream);
      for (const route of ordered) {
        const { operation, access } = route.metadata;
        const input = inputsFor(route, rows)[0];
        if (access === 'member' || hasPermission(['member'], access as Permission)) letIn(await call(route, input, ofDemoted), operation);
        letIn(await call(route, input, everywhere), operation);
        if (!ofTheOrganization.has(operation) && operation !== 'workspaces.delete')
          letIn(await call(route, withWorkspace(route, input), inWorkspace), operation);
      }
    });

    function call(route: AnyRoute, input: Record<string, unknown> = {}, caller?: Pick<TestUser, 'token'>): Promise<Answer> {
      return callOver(api, transport as Transport, route.metadata.operation, input, caller ? { token: caller.token } : {});
    }

    /** Lists and jobs may be filed under no workspace; a key of one has to name it. */
    function withWorkspace(route: AnyRoute, input: Record<string, unknown> = {}): Record<string, unknown> {
      const { operation } = route.metadata;
      if (operation === 'jobs.list' || operation === 'jobs.create') return { ...input, workspaceId: rows.workspaceId };
      if (operation === 'jobs.createMany') return { ...input, jobs: [{ ...embedding(), workspaceId: rows.workspaceId }] };
      return operation.startsWith('jobs.') ? { ...input, id: jobInWorkspace } : input;
    }

    function embedding() {
      return { kind: 'text.embed', organizationId: rows.organizationId, texts: ['one'] };
    }

    async function rowsBeside(): Promise<TenantRows> {
      const { tenant, organizationId } = rows;
      const { token } = tenant.owner;
      const post = async (path: string, body: object) => (await expectOk(api.request('POST', `/api/v1${path}`, { token, body }))).body;
      const { id: workspaceId } = await post('/workspaces', { organizationId, name: 'Beside', slug: 'beside' });
      const { document } = await post('/documents', { workspaceId, name: 'note.txt', contentType: 'text/plain', size: 5 });
      return { ...rows, workspaceId, documentId: document.id, jobId: await createJob(workspaceId), slug: 'beside' };
    }

    async function createJob(workspaceId: string): Promise<string> {
      const body = { ...embedding(), workspaceId };
      return (await expectOk(api.request('POST', '/api/v1/jobs', { token: rows.tenant.owner.token, body }))).body.id;
    }

    async function ofDeletedOrganization(): Promise<TestKey> {
      const tenant = await api.createTenant();
      const key = await createKey(api, tenant);
      const admin = await api.signUp();
      await api.makePlatformAdmin(admin);
      // Nothing drains it here: the key has to end with the request.
      const body = { confirmSlug: tenant.slug };
      const options = { token: admin.token, body, signal: AbortSignal.timeout(2_000) };
      await api.request('DELETE', `/api/v1/admin/organizations/${tenant.organizationId}`, options).catch(() => {});
      return key;
    }

    async function ofDeletedWorkspace(): Promise<TestKey> {
      const { token } = rows.tenant.owner;
      const body = { organizationId: rows.organizationId, name: 'Gone', slug: 'gone' };
      const { body: workspace } = await expectOk(api.request('POST', '/api/v1/workspaces', { token, body }));
      const key = await createKey(api, rows.tenant, { workspaceId: workspace.id });
      await expectOk(api.request('DELETE', `/api/v1/workspaces/${workspace.id}`, { token }));
      return key;
    }
  });
}

function refused(answer: Answer, code: string, what = ''): void {
  expect(answer.body, `${what} ${JSON.stringify(answer.body)}`).to.include({ code, defined: true });
}

function letIn(answer: Answer, operation: string): void {
  expect(answer.status, `${operation}: ${JSON.stringify(answer.body)}`).to.not.be.oneOf([401, 403]);
}
