import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { contentTypes, extraContentTypes } from '../../contract/content-types.ts';
import { errorCodes } from '../../contract/errors.ts';
import { routes } from '../../contract/index.ts';
import { buildOpenApi } from '../../contract/openapi.ts';
import type { OpenApiOperation } from '../../contract/openapi-operations.ts';

const document = JSON.parse(JSON.stringify(buildOpenApi({ cookieName: 'session' }))) as ReturnType<typeof buildOpenApi>;
const operations = new Map(
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [operation.operationId, { path, method, operation }] as const),
  ),
);

function operationOf(name: string): OpenApiOperation {
  const found = operations.get(name);
  if (!found) throw new Error(`the document has no ${name}`);
  return found.operation;
}

describe('The OpenAPI document', () => {
  it('is valid, without a warning, to two independent validators', async () => {
    const rules = {
      'no-invalid-schema-examples': 'error',
      'no-invalid-parameter-examples': 'error',
      'no-unused-components': 'error',
    } as const;
    const config = await createConfig({ extends: ['recommended-strict'], rules });
    const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config });
    expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`)).to.deep.equal([]);
    expect(await new Validator().validate(document as object as Record<string, unknown>)).to.deep.equal({ valid: true });
  });

  it('describes every route of the contract, and nothing else', () => {
    expect([...operations.keys()].sort()).to.deep.equal(routes.map(({ metadata }) => metadata.operation).sort());
    for (const { method, path, metadata } of routes) {
      const entry = operations.get(metadata.operation);
      expect(entry?.method).to.equal(method.toLowerCase());
      expect(entry?.path.replace(/\{\w+\}/g, '{}')).to.equal(path.replace(/:\w+/g, '{}'));
      expect(entry?.operation.tags).to.deep.equal([metadata.operation.split('.').slice(0, -1).join('.')]);
    }
  });

  it('declares the tag of every operation, and no other', () => {
    const used = new Set([...operations.values()].flatMap(({ operation }) => operation.tags));
    expect((document.tags as { name: string }[]).map(({ name }) => name)).to.have.members([...used]);
  });

  it('declares every error of every operation, those without an envelope too', () => {
    for (const { metadata } of routes) {
      const statuses = new Set([200, 413, 500, ...metadata.errors.map((code) => errorCodes[code].status)]);
      expect(Object.keys(operationOf(metadata.operation).responses).map(Number), metadata.operation).to.have.members([...statuses]);
    }
  });

  it('has the bounds that clients are promised', () => {
    const { schemas } = document.components as unknown as { schemas: Record<string, { properties: Record<string, object> }> };
    const slug = { minLength: 2, maxLength: 48, pattern: '^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$' };
    const cursor = { minLength: 1, maxLength: 200 };
    const bodies: [string, string, object][] = [
      ['CreateWorkspace', 'name', { minLength: 1, maxLength: 80 }],
      ['CreateWorkspace', 'slug', slug],
      ['UpdateWorkspace', 'name', { minLength: 1, maxLength: 80 }],
      ['UpdateWorkspace', 'slug', slug],
      ['DeleteOrganization', 'confirmSlug', slug],
      ['CreateUpload', 'name', { maxLength: 200 }],
      ['SearchQuery', 'query', { minLength: 1, maxLength: 1000 }],
      ['SearchQuery', 'limit', { minimum: 1, maximum: 50, default: 10 }],
      ['UpsertFlag', 'description', { maxLength: 200 }],
      ['ContactMessage', 'name', { maxLength: 120 }],
      ['ContactMessage', 'message', { minLength: 10, maxLength: 2000 }],
      ['ContactMessage', 'website', { maxLength: 200 }],
      ['CreateEmbedJob', 'texts', { maxItems: 16 }],
      ['FeatureFlag', 'key', { minLength: 2, maxLength: 64, pattern: '^[a-z0-9][a-z0-9._-]*$' }],
    ];
    for (const [name, field, bounds] of bodies) expect(schemas[name]?.properties[field], `${name}.${field}`).to.deep.include(bounds);
    const parameters: [string, string, object][] = [
      ['workspaces.get', 'slug', slug],
      ['admin.flags.upsert', 'key', { minLength: 2, maxLength: 64, pattern: '^[a-z0-9][a-z0-9._-]*$' }],
      ['documents.list', 'limit', { minimum: 1, maximum: 200, default: 50 }],
      ['documents.list', 'cursor', cursor],
      ['jobs.list', 'limit', { minimum: 1, maximum: 100, default: 25 }],
      ['jobs.list', 'cursor', cursor],
      ['jobs.list', 'includeResult', { type: 'boolean', default: false }],
      ['organizations.auditLog', 'limit', { minimum: 1, maximum: 100, default: 50 }],
      ['organizations.auditLog', 'cursor', cursor],
      ['admin.auditLog', 'limit', { minimum: 1, maximum: 100, default: 50 }],
      ['admin.auditLog', 'cursor', cursor],
      ['admin.organizations.list', 'search', { maxLength: 80 }],
      ['admin.organizations.list', 'limit', { minimum: 1, maximum: 100, default: 25 }],
      ['admin.organizations.list', 'offset', { minimum: 0, default: 0 }],
      ['admin.mails.list', 'limit', { minimum: 1, maximum: 100, default: 25 }],
    ];
    for (const [name, field, bounds] of parameters) {
      const parameter = operationOf(name).parameters?.find((entry) => entry.name === field);
      expect(parameter?.schema, `${name} ${field}`).to.deep.include(bounds);
    }
    expect(schemas.ContentType).to.deep.include({ enum: [...contentTypes] });
    expect(contentTypes).to.have.length(10);
    const extra = extraContentTypes.slice(0, 1);
    const { ContentType } = buildOpenApi({ cookieName: 'session', extra }).components.schemas;
    expect(ContentType).to.deep.include({ enum: [...contentTypes, ...extra] });
  });

  it('tells which operations take an Idempotency-Key, and what a stream sends', () => {
    const taking = [...operations.values()].filter(({ operation }) => JSON.stringify(operation.parameters).includes('IdempotencyKey'));
    const names = [
      'workspaces.create',
      'documents.ask',
      'documents.askStream',
      'documents.createUpload',
      'jobs.create',
      'jobs.createMany',
      'jobs.retry',
    ];
    expect(taking.map(({ operation }) => operation.operationId)).to.have.members(names);
    const stream = operationOf('jobs.stream');
    expect(stream.parameters).to.deep.include({ $ref: '#/components/parameters/LastEventId' });
    expect(Object.keys(stream.responses[200]?.content ?? {})).to.deep.equal(['text/event-stream']);
  });

  it('says that a wrong Last-Event-Id is refused before the stream opens, whatever its form', () => {
    const parameter = document.components.parameters?.LastEventId as { description: string; schema: object };
    expect(parameter.description).to.match(/refused with BAD_REQUEST, before the stream opens\.$/);
    expect(Object.keys(operationOf('jobs.stream').responses)).to.include('400');
    expect(parameter.schema).to.have.all.keys('type', 'examples');
  });

  it('asks for a session or an API key everywhere but at public operations, and for a session or a key alone where only that is taken', () => {
    expect(document.security).to.deep.equal([{ bearer: [] }, { apiKey: [] }, { cookie: [] }]);
    const own: Record<string, object[]> = { public: [], 'api-key': [{ apiKey: [] }] };
    const ofPeople = ['signed-in', 'platform-admin', 'apiKey:manage', 'webhook:manage', 'organization:delete'];
    for (const access of ofPeople) own[access] = [{ bearer: [] }, { cookie: [] }];
    for (const { metadata } of routes) {
      const expected = own[metadata.access];
      expect(operationOf(metadata.operation).security, metadata.operation).to.deep.equal(expected);
    }
  });

  it('has an example of every request and answer, made of the examples of its parts', () => {
    const examples = [...operations.values()].flatMap(({ operation }) =>
      [operation.requestBody?.content, operation.responses[200]?.content].flatMap((content) => Object.values(content ?? {})),
    );
    for (const { example, examples: several } of examples) {
      const values = several ? Object.values(several).map(({ value }) => value) : [example];
      expect(values).to.not.include(undefined);
      expect(JSON.stringify(values), 'a part without an example').to.not.include('"…"');
    }
  });

  it('names every object schema, and says nothing twice', () => {
    const inline = new Map<string, string>();
    visit(document.paths, 'paths', (schema, where) => {
      if (where.includes('event-stream')) return;
      if (schema.type === 'object' && schema.properties) throw new Error(`an inline object at ${where}`);
    });
    visit(document.components.schemas, 'schemas', (schema, where) => {
      const depth = where.split('/').length;
      if (schema.type !== 'object' || !schema.properties) return;
      expect(depth, `an inline object at ${where}`).to.equal(2);
      const text = JSON.stringify(schema);
      expect(inline.get(text), `${where} is the same as`).to.equal(undefined);
      inline.set(text, where);
    });
    expect(JSON.stringify(document)).to.not.match(/\$schema|\$defs|"override"|"id":"[A-Z]/);
  });
});

function visit(node: unknown, where: string, look: (schema: Record<string, unknown>, where: string) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) look(node as Record<string, unknown>, where);
  for (const [key, child] of Object.entries(node)) if (!/^examples?$/.test(key)) visit(child, `${where}/${key}`, look);
}
