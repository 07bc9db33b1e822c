import { expect } from 'chai';
import { buildOpenApi } from '../../contract/openapi.ts';

interface Schema {
  $ref?: string;
  format?: string;
  properties?: Record<string, Schema>;
  [keyword: string]: unknown;
}

const document = JSON.parse(JSON.stringify(buildOpenApi({ cookieName: 'session' })));
const operations: any[] = Object.values(document.paths).flatMap((item: any) => Object.values(item));

/** What a reference of the document leads to, or the value itself if it is none. */
function resolve(value: any): any {
  if (!value.$ref) return value;
  const path: string[] = value.$ref.split('/').slice(1);
  return path.reduce((found, key) => found[key], document);
}

/** The fields of a schema that hold an address, by their names or their format. */
function findAddresses(schema: Schema, at: string): string[] {
  const rest: Schema = resolve(schema);
  const here = rest.format === 'uri' || /(^|[._])(\w*ur[il]|callback\w*|redirect\w*|webhook\w*|host)$/i.test(at) ? [at] : [];
  const inside = Object.entries(rest.properties ?? {}).flatMap(([name, field]) => findAddresses(field, `${at}.${name}`));
  const others = ['items', 'anyOf', 'oneOf', 'allOf'].flatMap((keyword) => [rest[keyword] ?? []].flat() as Schema[]);
  return [...here, ...inside, ...others.flatMap((each) => findAddresses(each, at))];
}

describe('Addresses that the service would call', () => {
  it('are in no request of an operation but those that add endpoints of webhooks', () => {
    const schemas = operations.flatMap(({ operationId, parameters = [], requestBody }) => [
      ...parameters.map(resolve).map(({ name, schema }: any) => [`${operationId}.${name}`, schema]),
      ...Object.values(requestBody?.content ?? {}).map((content: any) => [operationId, content.schema]),
    ]);
    expect(schemas).to.have.length.above(40);
    const found = schemas.flatMap(([at, schema]) => findAddresses(schema, at));
    expect(found).to.deep.equal(['webhooks.create.url', 'webhooks.update.url']);
  });

  it('would be seen: a response has some', () => {
    const schemas = operations.flatMap(({ operationId, responses }) =>
      Object.values(responses[200]?.content ?? {}).map((content: any) => [operationId, content.schema]),
    );
    expect(schemas.flatMap(([at, schema]) => findAddresses(schema, at))).to.include('documents.createUpload.upload.url');
  });
});
