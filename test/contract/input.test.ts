import { expect } from 'chai';
import { routes } from '../../contract/index.ts';
import type { JsonSchema } from '../../contract/openapi-schemas.ts';
import type { AnyRoute } from '../../contract/route.ts';
import type { TestUser } from '../support/api.ts';
import { callOver, type Transport, transports } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { askedOver } from './support/asked.ts';
import { breaksOf, edgesOf } from './support/bounds.ts';
import { type DescribedInput, describedInputs } from './support/described-input.ts';

const idPatterns = ['^[A-Za-z0-9_-]{1,64}$', '^[A-Za-z0-9._-]{1,64}$'];
const malformedId = 'no id!';

describe('Input', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let outsider: TestUser;
  let platformAdmin: TestUser;

  before(async () => {
    [outsider, platformAdmin] = [await api.signUp(), await api.signUp()];
    await api.makePlatformAdmin(platformAdmin);
  });

  for (const transport of transports) {
    for (const route of askedOver(transport)) {
      const { operation } = route.metadata;
      for (const described of describedInputs(route)) {
        const { kind } = described.example;
        if (described.fields.length === 0) continue;

        it(`of ${operation} ${kind ?? ''} is refused with the place of what is wrong, over ${transport}`, async () => {
          for (const { name, required, ...field } of described.fields) {
            if (required && field.place !== 'path')
              await refused(transport, route, described, name, undefined, { why: 'absent', path: [] });
            for (const { value, ...entry } of breaksOf(field.schema, field.place)) {
              // A malformed id is that of no row.
              if (isId(field.schema) && typeof value === 'string') await unknown(transport, route, { ...described.example, [name]: value });
              else await refused(transport, route, described, name, value, entry);
            }
          }
        });

        it(`of ${operation} ${kind ?? ''} may be on its bounds, and may hold fields that nobody knows, over ${transport}`, async () => {
          const unknown = { ...described.example, unknownField: { nested: [1] } };
          await accepted(transport, route, unknown, 'with an unknown field');
          for (const { name, schema } of described.fields) {
            for (const value of edgesOf(schema))
              await accepted(transport, route, { ...described.example, [name]: value }, `${name} on its bound`);
          }
        });
      }
    }
  }

  for (const transport of transports) {
    it(`names no row of a member with a malformed id, over ${transport}`, async () => {
      const { organizationId, workspaceId, owner } = tenant;
      const codeOf = async (operation: string, input: Record<string, unknown>) =>
        (await callOver(api, transport, operation, input, { token: owner.token })).body.code;
      expect(await codeOf('jobs.create', { kind: 'document.index', documentId: malformedId })).to.equal('NOT_FOUND');
      const embedding = { kind: 'text.embed', organizationId, texts: ['one'] };
      expect(await codeOf('jobs.create', { ...embedding, workspaceId: malformedId })).to.equal('NOT_FOUND');
      expect(await codeOf('jobs.create', { ...embedding, organizationId: malformedId })).to.equal('FORBIDDEN');
      expect(await codeOf('jobs.list', { organizationId, workspaceId: malformedId })).to.equal('NOT_FOUND');
      expect(await codeOf('jobs.list', { organizationId, documentId: '' })).to.equal('NOT_FOUND');
      expect(await codeOf('documents.list', { organizationId: malformedId, workspaceId })).to.equal('FORBIDDEN');
      const upload = { name: 'note.txt', contentType: 'text/plain', size: 5 };
      expect(await codeOf('documents.createUpload', { ...upload, workspaceId: malformedId })).to.equal('NOT_FOUND');
      expect(await codeOf('workspaces.update', { id: workspaceId, teamId: malformedId })).to.equal('NOT_FOUND');
    });

    it(`finds nothing by a malformed id in a filter, over ${transport}`, async () => {
      const { workspaceId, owner } = tenant;
      const search = { workspaceId, query: 'one', mode: 'lexical', filter: { documentIds: [malformedId] } };
      const found = await callOver(api, transport, 'documents.search', search, { token: owner.token });
      expect(found.body.results).to.deep.equal([]);
      for (const name of ['organizationId', 'actorId', 'targetId']) {
        const { body } = await callOver(api, transport, 'admin.auditLog', { [name]: malformedId }, { token: platformAdmin.token });
        expect(body).to.deep.equal({ entries: [], nextCursor: null });
      }
    });

    for (const route of routes.filter(({ metadata }) => metadata.idempotent)) {
      it(`of ${route.metadata.operation} includes its Idempotency-Key, which has its bounds too, over ${transport}`, async () => {
        for (const { example } of describedInputs(route)) {
          const withKey = (key: string) =>
            callOver(api, transport, route.metadata.operation, example, { token: outsider.token, headers: { 'idempotency-key': key } });
          for (const key of ['', 'x'.repeat(201)]) {
            const { body } = await withKey(key);
            expect(body).to.include({ code: 'BAD_REQUEST', defined: true });
            expect(body.data.issues[0].path).to.deep.equal(['Idempotency-Key']);
          }
          expect((await withKey('x'.repeat(200))).status).to.be.oneOf([403, 404]);
        }
      });
    }
  }

  function isId(schema: JsonSchema): boolean {
    return [schema, ...(schema.anyOf ?? [])].some(({ pattern }) => idPatterns.includes(String(pattern)));
  }

  async function refused(
    transport: Transport,
    route: AnyRoute,
    { example }: DescribedInput,
    name: string,
    value: unknown,
    expected: { why: string; path: (string | number)[]; reason?: string },
  ): Promise<void> {
    const answer = await call(transport, route, { ...example, [name]: value });
    const what = `${route.metadata.operation}: ${name} ${expected.why} answered ${JSON.stringify(answer.body)}`;
    expect(answer.body, what).to.include({ status: 400, code: 'BAD_REQUEST', defined: true });
    const path = [name, ...expected.path];
    const issue = answer.body.data.issues.find((found: { path: unknown[] }) => JSON.stringify(found.path) === JSON.stringify(path));
    expect(issue, what).to.have.property('message').that.is.a('string');
    if (expected.reason) expect(issue.params, what).to.deep.equal({ reason: expected.reason });
  }

  async function unknown(transport: Transport, route: AnyRoute, input: Record<string, unknown>): Promise<void> {
    const { cursor: _issuedByNobody, ...others } = input;
    const answer = await call(transport, route, others);
    const what = `${route.metadata.operation} of ${JSON.stringify(input)} answered ${JSON.stringify(answer.body)}`;
    // A list of the whole platform is empty.
    if (answer.status === 200) return void expect(answer.body, what).to.deep.equal({ entries: [], nextCursor: null });
    expect(answer.body, what)
      .to.include({ defined: true })
      .and.to.have.property('code')
      .that.is.oneOf(['NOT_FOUND', 'FORBIDDEN', ...(route.metadata.errors.includes('PRECONDITION_FAILED') ? ['PRECONDITION_FAILED'] : [])]);
  }

  async function accepted(transport: Transport, route: AnyRoute, input: Record<string, unknown>, why: string): Promise<void> {
    // Who is let in is told of a cursor that was never issued; who is not is refused before it is read.
    const { cursor: _issuedByNobody, ...others } = input;
    const answer = await call(transport, route, route.metadata.access === 'platform-admin' ? others : input);
    // Who asks may do nothing there, and most of what the example names is not there: but the input was taken.
    const what = `${route.metadata.operation} ${why} answered ${answer.status}: ${JSON.stringify(answer.body)?.slice(0, 500)}`;
    // The contact form's own limit counts what passed as input, and is soon reached here.
    const limited = route.metadata.operation === 'contact.send' ? [429] : [];
    expect(answer.status, what).to.be.oneOf([200, 403, 404, 409, 412, ...limited]);
  }

  function call(transport: Transport, route: AnyRoute, input: Record<string, unknown>) {
    const { access, operation } = route.metadata;
    const { token } = access === 'platform-admin' ? platformAdmin : outsider;
    return callOver(api, transport, operation, input, { token });
  }
});
