import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type AuthEndpoint, listAuthEndpoints } from '../../support/auth-endpoints.ts';
import { neverTaken } from '../../support/coverage.ts';
import { readIdentityDoc } from './support/identity-doc.ts';

describe('docs/identity.md', () => {
  const doc = readIdentityDoc();
  let served: AuthEndpoint[];
  before(() => {
    served = listAuthEndpoints();
  });

  it('has every endpoint that is served, once, and no other', () => {
    expect(doc.endpoints.map(({ name }) => name).sort()).to.deep.equal(served.map(({ name }) => name).sort());
  });

  it('names what takes no request as not for clients', () => {
    const notForClients = doc.endpoints.filter(({ section }) => section === 'Not for clients').map(({ name }) => name);
    expect(notForClients).to.include.members([...neverTaken]);
  });

  it('names fields that requests have, those that they must have, and which may be left out', () => {
    for (const { name, fields } of doc.endpoints) {
      const schema = served.find((endpoint) => endpoint.name === name);
      if (!fields || !schema) continue;
      for (const [field, { optional }] of fields) {
        if (schema.open && !schema.fields.has(field)) continue;
        expect(schema.fields.get(field), `${name} ${field}`).to.deep.equal({ optional });
      }
      const required = [...schema.fields].filter(([, { optional }]) => !optional).map(([field]) => field);
      expect([...fields.keys()], name).to.include.members(required);
    }
  });

  it('names codes that something answers', () => {
    const sources = globSync(
      [
        '{api/auth,domain/payments}/*.ts',
        'node_modules/better-call/dist/*.mjs',
        'node_modules/{better-auth,@better-auth/core}/dist/**/*.mjs',
      ],
      {},
    );
    const text = `${sources.map((file) => readFileSync(file, 'utf8')).join('\n')}`;
    const known = new Set(text.match(/\b[A-Z][A-Z0-9_]{3,}\b/g));
    for (const { name } of doc.endpoints)
      for (const error of doc.errorsOf(name)) {
        const [status, code = ''] = error.split(' ');
        expect(known.has(code), `${name} ${error}`).to.equal(true);
        expect(Number(status), `${name} ${error}`).to.be.within(400, 503);
      }
  });

  it('is found from the README', () => {
    expect(readFileSync('README.md', 'utf8')).to.include('](docs/identity.md)');
  });
});
