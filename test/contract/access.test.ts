import { expect } from 'chai';
import pg from 'pg';
import { impersonatedAccess } from '../../contract/access.ts';
import { routes } from '../../contract/index.ts';
import type { AnyRoute } from '../../contract/route.ts';
import { billingOn } from '../api/auth/support/service.ts';
import type { Answer, TestUser } from '../support/api.ts';
import { callOver, type Transport, transports } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { askedOver } from './support/asked.ts';
import { createCallers, type Verdict, verdictOn } from './support/matrix.ts';
import { createRows, createRowsAgain, inputsFor, rowFieldsOf, type TenantRows } from './support/rows.ts';

const guarded = routes.filter(({ metadata }) => metadata.access !== 'public');
const ofOrganizations = guarded.filter(({ metadata }) => metadata.access === 'member' || metadata.access.includes(':'));
const ofPlatformAdmins = routes.filter(({ metadata }) => metadata.access === 'platform-admin');
/** Who asks every operation over RPC, where all others ask some. */
const someCallers = ['nobody', 'a stranger', 'an owner', 'a member', 'a key that reads', 'a key of another organization'];
const absent = 'no-such-row';
/** How long an open stream is looked at. */
const openMs = 1_000;
const unlimited = { PLANS: '{"free":{"workspaces":5000,"aiCredits":1000000,"members":1000}}' };
const notImpersonated =
  /^(admin|apiKeys)\.|^webhooks\.(create|update|delete|rotateSecret|test|resend|resendMany)$|^organizations\.(delete|setHold|liftHold)$/;

it('Access while impersonating a user is refused to what outlives a session or costs money', () => {
  const refusedThen = guarded
    .filter(({ metadata }) => !impersonatedAccess.includes(metadata.access))
    .map(({ metadata }) => metadata.operation);
  expect(refusedThen).to.have.members(
    guarded.map(({ metadata }) => metadata.operation).filter((operation) => notImpersonated.test(operation)),
  );
});

for (const transport of transports) {
  const asked = new Set(askedOver(transport));
  describe(`Access over ${transport}`, () => {
    const { api } = useApi({ env: { WORKER_ENABLED: 'false', ...billingOn, ...unlimited, STRIPE_API_BASE: 'http://127.0.0.1:9' } });
    let rows: TenantRows;
    let others: TenantRows;
    let callers: Awaited<ReturnType<typeof createCallers>>;
    let outsider: TestUser;
    let platformAdmin: TestUser;

    before(async () => {
      [rows, others] = [await createRows(api), await createRows(api)];
      callers = await createCallers(api, rows, others);
      [outsider, platformAdmin] = [await api.signUp(), await api.signUp()];
      await api.makePlatformAdmin(platformAdmin);
    });

    // What is suspended or held, the next test shall change.
    afterEach(async () => {
      for (const table of ['organization_suspension', 'legal_hold'] as const) await api.database.db.deleteFrom(table).execute();
    });

    for (const route of routes) {
      const { operation, access, stream } = route.metadata;

      it(`to ${operation} is as its ${access} says for every kind of caller`, async () => {
        for (const caller of asked.has(route) ? callers : callers.filter(({ name }) => someCallers.includes(name))) {
          for (let index = 0; index < inputsFor(route, rows).length; index++) {
            const expected = verdictOn(route, caller, inputsFor(route, rows)[index] ?? {});
            // What one caller deletes, the next one shall find.
            const deletes = route.method === 'DELETE' && rowFieldsOf(route).includes('id') && expected === 'let in';
            const input = inputsFor(route, deletes ? await createRowsAgain(api, rows) : rows)[index] ?? {};
            // A stream that is open says nothing.
            const signal = stream && expected === 'let in' ? { signal: AbortSignal.timeout(openMs) } : {};
            const options = { ...(caller.token ? { token: caller.token } : {}), ...signal };
            const { body } = await callOver(api, transport, operation, input, options).catch((error) => {
              if (error.name === 'TimeoutError') return { body: {} };
              throw error;
            });
            const verdict: Verdict = ['UNAUTHORIZED', 'FORBIDDEN'].includes(body?.code) ? body.code : 'let in';
            expect(verdict, `${caller.name}: ${JSON.stringify(body)}`).to.equal(expected);
            if (verdict === 'FORBIDDEN' && caller.is === 'user' && caller.role && !caller.isImpersonated && access.includes(':'))
              expect(body.message, operation).to.equal(`This needs the permission ${access}, which you do not have in this organization.`);
          }
        }
      });
    }

    for (const route of guarded.filter((each) => asked.has(each))) {
      it(`to ${route.metadata.operation} needs a session, before anything else is looked at`, async () => {
        for (const input of inputsFor(route, rows)) refused(await call(route, input), 'UNAUTHORIZED');
        refused(await call(route, inputsFor(route, rows)[0], { token: 'no.token' }), 'UNAUTHORIZED');
        refused(await sendBroken(route), 'UNAUTHORIZED');
      });
    }

    for (const route of ofOrganizations.filter((each) => asked.has(each))) {
      const { operation } = route.metadata;

      for (const field of rowFieldsOf(route)) {
        it(`to ${operation} tells rows that are absent from those of another organization, by its ${field}`, async () => {
          for (const [index, input] of inputsFor(route, rows).entries()) {
            if (!(field in input)) continue;
            refused(await call(route, { ...input, [field]: absent }, rows.tenant.owner), 'NOT_FOUND');
            // A slug or a team belongs to the organization that is named beside it.
            const theirs = inputsFor(route, others)[index];
            if (theirs && field !== 'slug' && field !== 'teamId')
              refused(await call(route, { ...input, [field]: theirs[field] }, rows.tenant.owner), 'FORBIDDEN');
          }
        });
      }
    }

    for (const route of ofOrganizations.filter((each) => asked.has(each))) {
      it(`to ${route.metadata.operation} is decided before its first write`, async () => {
        for (const input of inputsFor(route, rows)) {
          const { answer, writes } = await watchWrites(() => call(route, input, outsider));
          refused(answer, 'FORBIDDEN');
          expect(writes).to.deep.equal([]);
        }
      });
    }

    for (const route of ofPlatformAdmins.filter((each) => asked.has(each))) {
      const { operation } = route.metadata;

      it(`to ${operation} is for platform admins, whatever the input`, async () => {
        for (const user of [outsider, rows.tenant.owner]) {
          for (const input of inputsFor(route, rows)) refused(await call(route, input, user), 'FORBIDDEN');
          refused(await sendBroken(route, user), 'FORBIDDEN');
        }
      });

      if (route.metadata.errors.includes('NOT_FOUND')) {
        it(`to ${operation} of a row that is absent is NOT_FOUND`, async () => {
          const [input] = inputsFor(route, rows);
          const names = ['organizationId', 'key'].filter((name) => input && name in input);
          for (const name of names) refused(await call(route, { ...input, [name]: absent }, platformAdmin), 'NOT_FOUND');
        });
      }
    }

    function call(route: AnyRoute, input: Record<string, unknown> = {}, caller?: Pick<TestUser, 'token'>): Promise<Answer> {
      return callOver(api, transport as Transport, route.metadata.operation, input, caller ? { token: caller.token } : {});
    }

    /** A request whose body no parser reads. A GET has none: there the query is missing. */
    async function sendBroken(route: AnyRoute, caller?: TestUser): Promise<Answer> {
      const options = { ...(caller ? { token: caller.token } : {}), body: '{"broken', headers: { 'content-type': 'application/json' } };
      if (transport === 'RPC') {
        const answer = await api.request('POST', `/rpc/${route.metadata.operation.replaceAll('.', '/')}`, options);
        return { ...answer, body: answer.body.json };
      }
      const path = `/api/v1${route.path.replaceAll(/:\w+/g, '%00')}`;
      return api.request(route.method, path, route.method === 'GET' ? { ...options, body: undefined } : options);
    }
  });
}

/** The statements of this process, in which the API runs, that write rows. The outbox is dispatched at any time. */
async function watchWrites(work: () => Promise<Answer>): Promise<{ answer: Answer; writes: string[] }> {
  const writes: string[] = [];
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text: string }];
    const text = typeof statement === 'string' ? statement : statement.text;
    if (/\b(insert into|(?<!for |no key )update|delete from) (?!outbox\b)"?\w/i.test(text)) writes.push(text);
    return Reflect.apply(query, this, args);
  } as typeof query;
  const answer = await work().finally(() => {
    pg.Client.prototype.query = query;
  });
  return { answer, writes };
}

function refused(answer: Answer, code: string): void {
  expect(answer.body, JSON.stringify(answer.body)).to.include({ code, defined: true });
}
