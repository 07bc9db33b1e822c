import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { buildAuthOpenApi } from '../../../api/auth/openapi.ts';
import { createWholeAuth, listAuthEndpoints } from '../../support/auth-endpoints.ts';

interface Operation {
  requestBody?: { content: Record<string, { schema: { properties?: object; required?: string[] } }> };
  responses: Record<string, { content?: Record<string, { schema: { $ref?: string } }> }>;
}

describe('The OpenAPI document of /api/auth', () => {
  let document: { paths: Record<string, Record<string, Operation>>; [key: string]: unknown };
  before(async () => {
    document = (await buildAuthOpenApi(createWholeAuth(), { cookieName: 'session' })) as typeof document;
  });

  it('is valid', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect(valid, JSON.stringify(errors)).to.equal(true);
  });

  it('has every endpoint that is served, and no other', () => {
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    expect(described.sort()).to.deep.equal([...new Set(listAuthEndpoints().map(({ name }) => name))].sort());
  });

  it('names the fields of requests and the envelope of errors', () => {
    const { requestBody, responses } = document.paths['/sign-up/email']?.post ?? { responses: {} };
    expect(requestBody?.content['application/json']?.schema.properties).to.include.keys('name', 'email', 'password');
    for (const [status, { content }] of Object.entries(responses).filter(([status]) => Number(status) >= 400))
      expect(content?.['application/json']?.schema, status).to.deep.equal({ $ref: '#/components/schemas/Error' });
  });
});
