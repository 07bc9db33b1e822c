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

  it('name what a value may be, if that is not much', () => {
    expect(messagesOf(contract.jobs.list.query, { status: 'x' })).to.deep.equal([
      'status: must be one of queued, running, succeeded, failed, canceled',
    ]);
    const kinds =
      'kind: must be one of document.extract, document.summarize, document.index, text.summarize, text.embed, or one that the deployment adds by EXTRA_JOB_KINDS';
    for (const input of [{}, { kind: 'x' }, { kind: 7 }]) expect(messagesOf(contract.jobs.create.body, input)).to.deep.equal([kinds]);
    expect(messagesOf(z.object({ ok: z.literal(true) }), {})).to.deep.equal(['ok: must be true']);
    const filter = { createdFrom: 'yesterday', tag: 'a', from: 1 };
    expect(messagesOf(contract.documents.search.body, { query: 'mites', filter })).to.deep.equal([
      'filter.createdFrom: must be a time in UTC, such as 2026-11-21T12:00:00.000Z',
      'filter: must not have tag, from',
    ]);
  });

  it('are those of a schema if it has some, and those of zod for what they do not cover', () => {
    expect(messagesOf(z.object({ mode: z.string({ error: 'must be a mode' }) }), {})).to.deep.equal(['mode: must be a mode']);
    expect(messagesOf(z.object({ at: z.number().gt(1) }), { at: 1 })).to.deep.equal(['at: Too small: expected number to be >1']);
    expect(messagesOf(z.object({}), [])).to.deep.equal([': The body must be a JSON object.']);
  });
});
