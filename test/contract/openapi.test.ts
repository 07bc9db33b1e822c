import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
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

  it('declares every error of every operation, those without an envelope too', () => {
    for (const { metadata } of routes) {
      const statuses = new Set([200, 413, 500, ...metadata.errors.map((code) => errorCodes[code].status)]);
      expect(Object.keys(operationOf(metadata.operation).responses).map(Number), metadata.operation).to.have.members([...statuses]);
    }
  });

  it('asks for a session everywhere but at public operations', () => {
    expect(document.security).to.deep.equal([{ bearer: [] }, { cookie: [] }]);
    for (const { metadata } of routes) {
      const expected = metadata.access === 'public' ? [] : undefined;
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
