import { expect } from 'chai';
import { fieldSchema } from '../../contract/field-schema.ts';
import { contract } from '../../contract/index.ts';

describe('What Postgres cannot store', () => {
  it('is not in the address of a webhook, which is kept as it is requested', () => {
    const kept = (url: string) => contract.webhooks.create.body.parse({ organizationId: 'acme', url, events: ['job.failed'] }).url;
    expect(kept('https://hooks.example.com/a\u0000b\u202ec')).to.equal('https://hooks.example.com/a%00b%E2%80%AEc');
    expect(kept('https://hooks.example.com\\@internal/')).to.equal('https://hooks.example.com/@internal/');
    expect(kept('https://hooks.example.com/sheaf?a=1')).to.equal('https://hooks.example.com/sheaf?a=1');
  });

  it('is in no part of a schema of fields', () => {
    const schema = { type: 'object', properties: { total: { type: 'number' } } };
    expect(
      fieldSchema.safeParse({ ...schema, $schema: 'https://json-schema.org/draft/2020-12/schema', required: ['total'] }).success,
    ).to.equal(true);
    for (const text of ['\u0000', '\ud800']) {
      expect(fieldSchema.safeParse({ ...schema, $schema: text }).success).to.equal(false);
      expect(fieldSchema.safeParse({ ...schema, required: [text] }).success).to.equal(false);
    }
  });
});
