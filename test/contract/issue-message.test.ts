import { expect } from 'chai';
import { z } from 'zod';
import { toIssues } from '../../api/http/errors.ts';
import { contract } from '../../contract/index.ts';

describe('Messages of BAD_REQUEST', () => {
  const messagesOf = (schema: z.ZodType, input: unknown) => {
    const { error } = schema.safeParse(input);
    return error ? toIssues(error).map(({ path, message }) => `${path.join('.')}: ${message}`) : [];
  };

  it('say of each field what it must be, and not how zod calls it', () => {
    const { body } = contract.workspaces.create;
    expect(messagesOf(body, { name: 7, slug: 'x' })).to.deep.equal([
      'organizationId: is required',
      'name: must be a string',
      'slug: must have at least 2 characters',
    ]);
    const { body: search } = contract.documents.search;
    expect(messagesOf(search, { query: 'mites', limit: 51, filter: { tags: 'bees' } })).to.deep.equal([
      'limit: must be at most 50',
      'filter.tags: must be an array',
    ]);
    expect(messagesOf(search, { query: 'mites', limit: 1.5, filter: { tags: [] } })).to.deep.equal([
      'limit: must be an integer',
      'filter.tags: must have at least 1 item',
    ]);
  });

  it('are those of a schema if it has some, and those of zod for what they do not cover', () => {
    expect(messagesOf(z.object({ mode: z.string({ error: 'must be a mode' }) }), {})).to.deep.equal(['mode: must be a mode']);
    expect(messagesOf(z.object({ at: z.number().gt(1) }), { at: 1 })).to.deep.equal(['at: Too small: expected number to be >1']);
    expect(messagesOf(z.object({}), [])).to.deep.equal([': The body must be a JSON object.']);
  });
});
