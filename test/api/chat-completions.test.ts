import { expect } from 'chai';
import OpenAI, { APIError } from 'openai';
import { createKey, type KeyOptions } from '../support/api-keys.ts';
import { aiError, picking, quoting } from '../support/fake-ai.ts';
import { expectOk } from '../support/requests.ts';
import { noteTokens } from '../support/run-secrets.ts';
import { useApi } from '../support/use-api.ts';

const sentences = ['The mirrors are washed every month.', 'The dome opens at dusk.'];

describe('The chat protocol of OpenAI, by the client of its authors', () => {
  const { api, ai, tenant } = useApi({
    ai: true,
    env: { QUESTION_LIMIT_PER_MINUTE: '1000' },
    check: 'at the end',
  });
  let documentId: string;

  before(async () => {
    documentId = (await api.upload(tenant, { name: 'handbook.txt', bytes: sentences.join(' ') })).id;
    const { token } = tenant.owner;
    const { body } = await expectOk(api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId } }));
    await api.jobIn(token, body.id, ['succeeded']);
  });
  beforeEach(() => {
    ai.calls.length = 0;
    ai.behave('rewrite');
    ai.behave('answer', quoting([...sentences, 'The dome opens at dawn.']));
  });

  async function clientWith(options: KeyOptions = { permissions: ['document:read', 'workspace:read'] }): Promise<OpenAI> {
    const { token } = await createKey(api, tenant, options);
    noteTokens(token);
    return new OpenAI({ apiKey: token, baseURL: `${api.url}/api/v1`, maxRetries: 0 });
  }
  const answersAsked = () =>
    ai.calls.filter(({ operation }) => operation === 'answer').map(({ body: { before, question } }) => [before, question]);
  const messages = [
    { role: 'system' as const, content: 'You are a pirate.' },
    { role: 'user' as const, content: 'An earlier question?' },
    { role: 'assistant' as const, content: 'An earlier answer.' },
    { role: 'user' as const, content: [{ type: 'text' as const, text: 'How are the mirrors\nand the dome kept?' }] },
  ];
  const ask = async (client: OpenAI, model = tenant.workspaceId) => client.chat.completions.create({ model, messages, temperature: 0.7 });

  it('answers with sentences of the documents, and their citations as annotations', async () => {
    const completion = await ask(await clientWith());
    expect(completion).to.include({ object: 'chat.completion', model: tenant.workspaceId });
    const [{ message, finish_reason: finish } = expect.fail()] = completion.choices;
    expect([finish, message.role, message.content]).to.deep.equal(['stop', 'assistant', sentences.join('\n\n')]);
    const cited = (message.annotations ?? []).map(({ url_citation: { start_index: start, end_index: end, title } }) => [
      message.content?.slice(start, end),
      title,
    ]);
    expect(cited).to.deep.equal(sentences.map((sentence) => [sentence, 'handbook.txt']));
    const [annotation] = message.annotations as any;
    expect(annotation.citation).to.include({ documentId, start: 0, quote: sentences[0] });
    expect((completion as any).answer).to.include({ withheld: 0, nothingFound: false, credits: 3 });
    expect(completion.usage).to.deep.equal({ prompt_tokens: 10, completion_tokens: 15, total_tokens: 25 });
    // Who is to speak, and what was said before, is not asked: the question does not lean on it.
    expect(answersAsked()).to.deep.equal([[null, 'How are the mirrors and the dome kept?']]);
  });

  it('leads from a citation to the passage in the console', async () => {
    const { choices } = await ask(await clientWith());
    const [first, second] = (choices[0]?.message.annotations ?? []).map(({ url_citation: { url } }) => new URL(url));
    const { db } = api.database;
    const { organizationId, workspaceId } = tenant;
    const { slug } = await db.selectFrom('organization').select('slug').where('id', '=', organizationId).executeTakeFirstOrThrow();
    const workspace = await db.selectFrom('workspace').select('slug').where('id', '=', workspaceId).executeTakeFirstOrThrow();
    expect(first?.href).to.equal(`${api.url}/o/${slug}/${workspace.slug}/documents/${documentId}?start=0&end=35`);
    expect(second?.search).to.equal('?start=36&end=59');
  });

  it('reads messages with control characters as one line', async () => {
    const client = await clientWith();
    const turns = ['How are\u001b[1m the mirrors\u0000 kept?', 'And the\u0007 dome?'].map((content) => ({
      role: 'user' as const,
      content,
    }));
    await client.chat.completions.create({ model: tenant.workspaceId, messages: turns });
    expect(answersAsked()).to.deep.equal([['How are [1m the mirrors kept?', 'And the dome?']]);
  });

  it('reads a message that was cut within a sign, which stays in the conversation', async () => {
    const turns = ['How are the mirrors kept? \ud83d', 'And the dome?'].map((content) => ({ role: 'user' as const, content }));
    await (await clientWith()).chat.completions.create({ model: tenant.workspaceId, messages: turns });
    expect(answersAsked()).to.deep.equal([['How are the mirrors kept? \ufffd', 'And the dome?']]);
  });

  it('streams the same, a sentence at a time', async () => {
    const client = await clientWith({ permissions: ['document:read'], workspaceId: tenant.workspaceId });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await client.chat.completions.create({ model: tenant.workspaceId, messages, stream: true }))
      chunks.push(chunk);
    const deltas = chunks.map(({ choices }) => choices[0]?.delta as any);
    expect(deltas.map(({ content }) => content)).to.deep.equal(['', sentences[0], `\n\n${sentences[1]}`, undefined]);
    expect(deltas[2].annotations[0].url_citation).to.include({ start_index: 37, end_index: 60 });
    // Clients that put a message together take the places in its lists from this number, and the Python one fails without it.
    const numbers = deltas.flatMap(({ annotations = [] }) => annotations.map(({ index }: { index: number }) => index));
    expect(numbers).to.deep.equal([0, 1]);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).to.equal('stop');
    expect(new Set(chunks.map(({ id }) => id)).size).to.equal(1);
    const whole = await client.chat.completions.stream({ model: tenant.workspaceId, messages }).finalContent();
    expect(whole).to.equal(sentences.join('\n\n'));
  });

  it('tells usage at the end of a stream that asks for it, in a chunk of its own', async () => {
    const client = await clientWith();
    const asked = { model: tenant.workspaceId, messages, stream: true as const, stream_options: { include_usage: true } };
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await client.chat.completions.create(asked)) chunks.push(chunk);
    const last = chunks.pop();
    expect(last?.choices).to.deep.equal([]);
    expect(last?.usage).to.deep.equal({ prompt_tokens: 10, completion_tokens: 15, total_tokens: 25 });
    expect(chunks.map(({ usage }) => usage)).to.deep.equal(chunks.map(() => null));
    expect(chunks.at(-1)?.choices[0]?.finish_reason).to.equal('stop');
  });

  it('searches with what a model makes of a question that leans on others, and never shows it', async () => {
    const client = await clientWith();
    ai.behave('rewrite', () => ({ body: { question: 'When does the dome of the telescope open?' } }));
    const turns = ['Is there a dome?', 'Fine.', 'When does it open?'].map((content) => ({ role: 'user' as const, content }));
    const { choices } = await client.chat.completions.create({ model: tenant.workspaceId, messages: turns });
    const asked = ai.calls.filter(({ operation }) => operation === 'rewrite').map(({ body }) => body);
    expect(asked).to.deep.equal([{ question: 'When does it open?', earlier: ['Is there a dome?', 'Fine.'] }]);
    const { body } = ai.calls.find(({ operation }) => operation === 'answer') ?? {};
    expect([body.question, body.before]).to.deep.equal(['When does the dome of the telescope open?', null]);
    expect(choices[0]?.message.content).to.equal(sentences.join('\n\n'));
  });

  it('asks no model where nothing is indexed', async () => {
    const { owner, workspaceId } = await api.createTenant();
    const calls = ai.calls.length;
    const body = { question: 'When does it open?', conversation: ['Is there a dome?'] };
    const { body: answer } = await expectOk(
      api.request('POST', `/api/v1/workspaces/${workspaceId}/documents/ask`, { token: owner.token, body }),
    );
    expect(answer).to.deep.include({ nothingFound: true, sentences: [], credits: 0 });
    expect(ai.calls.slice(calls)).to.deep.equal([]);
  });

  it('keeps the words of what the question is said to lean on', async () => {
    ai.behave('rewrite', () => ({ body: { question: 'When does the dome open?' } }));
    const { token } = await createKey(api, tenant, { permissions: ['document:read'] });
    noteTokens(token);
    const body = { question: 'When does it open?', before: 'How is the dome kept?', mode: 'hybrid' };
    await expectOk(api.request('POST', `/api/v1/workspaces/${tenant.workspaceId}/documents/ask`, { token, body }));
    expect(answersAsked()).to.deep.equal([['How is the dome kept?', 'When does the dome open?']]);
  });

  it('joins the words of both if the model fails', async () => {
    const client = await clientWith();
    ai.behave('rewrite', () => aiError(502, 'remote_failed'));
    const turns = ['How are the mirrors kept?', 'And the dome?'].map((content) => ({ role: 'user' as const, content }));
    await client.chat.completions.create({ model: tenant.workspaceId, messages: turns });
    expect(answersAsked()).to.deep.equal([['How are the mirrors kept?', 'And the dome?']]);
  });

  it('says so if nothing is found, or what was picked is not there', async () => {
    const client = await clientWith();
    const contentOf = async (content: string) =>
      (await client.chat.completions.create({ model: tenant.workspaceId, messages: [{ role: 'user', content }] })).choices[0]?.message
        .content;
    ai.behave('answer', () => ({ body: picking([]) }));
    expect(await contentOf('zebras')).to.equal('Nothing in the documents responds to this.');
    ai.behave('answer', quoting(['It opens at 9.']));
    expect(await contentOf('mirrors')).to.equal('Nothing in the documents responds to this.');
  });

  it('says of a repeated request that the documents of its answer were deleted', async () => {
    const { id } = await api.upload(tenant, { name: 'doors.txt', bytes: 'The doors are oiled in May.' });
    const { body: job } = await expectOk(
      api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body: { kind: 'document.index', documentId: id } }),
    );
    await api.jobIn(tenant.owner.token, job.id, ['succeeded']);
    ai.behave('answer', quoting(['The doors are oiled in May.']));
    const client = await clientWith();
    const doors = { model: tenant.workspaceId, messages: [{ role: 'user' as const, content: 'When are the doors oiled?' }] };
    const contentOf = async () =>
      (await client.chat.completions.create(doors, { headers: { 'Idempotency-Key': 'doors' } })).choices[0]?.message.content;
    expect(await contentOf()).to.equal('The doors are oiled in May.');
    await expectOk(api.request('DELETE', `/api/v1/documents/${id}`, { token: tenant.owner.token }));
    expect(await contentOf()).to.equal('What responds to this is no longer shown: its documents were deleted.');
  });

  it('lists the workspaces that a key reaches as models', async () => {
    const client = await clientWith();
    const { data } = await client.models.list();
    expect(data.map(({ id, object }) => [id, object])).to.deep.equal([[tenant.workspaceId, 'model']]);
    expect(await client.models.retrieve(tenant.workspaceId)).to.deep.equal(data[0]);
    const other = await api.createTenant();
    for (const id of [other.workspaceId, 'gpt-4.1'])
      expect(await refusal(client.models.retrieve(id))).to.include({ status: 404, code: 'NOT_FOUND' });
  });

  it('refuses in the protocol: no key, another organization, a permission that lacks, no question, no workspace', async () => {
    const client = await clientWith();
    const { token } = tenant.owner;
    for (const apiKey of ['sk-none', token]) {
      const stranger = new OpenAI({ apiKey, baseURL: `${api.url}/api/v1`, maxRetries: 0 });
      expect(await refusal(ask(stranger))).to.include({ status: 401, code: 'UNAUTHORIZED' });
      expect(await refusal(stranger.models.list())).to.include({ status: 401, code: 'UNAUTHORIZED' });
    }
    const other = await api.createTenant();
    expect(await refusal(ask(client, other.workspaceId))).to.include({ status: 403, code: 'FORBIDDEN', type: 'invalid_request_error' });
    expect(await refusal(ask(client, 'gpt-4o'))).to.include({ status: 404, code: 'NOT_FOUND' });
    expect(await refusal(ask(await clientWith({ permissions: ['workspace:read'] })))).to.include({ status: 403, code: 'FORBIDDEN' });
    const bad = [
      [],
      [{ role: 'user', content: ' ' }],
      [{ role: 'system', content: 'a' }],
      [{ role: 'user', content: 'a'.repeat(1_001) }],
      'a',
    ];
    for (const wrong of bad) {
      const refused = client.chat.completions.create({ model: tenant.workspaceId, messages: wrong as never });
      expect(await refusal(refused)).to.include({ status: 400, code: 'BAD_REQUEST' });
    }
    expect(ai.calls).to.deep.equal([]);
    ai.behave('answer', () => aiError(502, 'remote_failed'));
    expect(await refusal(ask(client))).to.include({ status: 503, code: 'SERVICE_UNAVAILABLE', type: 'server_error' });
    const streamed = client.chat.completions.create({ model: tenant.workspaceId, messages, stream: true });
    expect(await refusal(streamed)).to.include({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  });

  it('refuses a body that is too large, and says so', async () => {
    const large = [{ role: 'user', content: 'a'.repeat(2 ** 20) }] as const;
    const refused = await refusal((await clientWith()).chat.completions.create({ model: tenant.workspaceId, messages: [...large] }));
    expect(refused).to.include({ status: 413, code: 'payload_too_large', type: 'invalid_request_error' });
    expect(refused.message).to.equal('413 The body is larger than 1048576 bytes.');
  });

  it("counts for the key's rate", async () => {
    const client = await clientWith({ permissions: ['document:read'], requestsPerMinute: 1 });
    await ask(client);
    const refused = await refusal(ask(client));
    expect(refused).to.include({ status: 429, type: 'rate_limit_error' });
    expect(refused.headers?.get('retry-after')).to.match(/^\d+$/);
  });
});

async function refusal(call: PromiseLike<unknown>): Promise<APIError> {
  const error = await Promise.resolve(call).catch((thrown) => thrown);
  if (error instanceof APIError) return error;
  throw new Error(`it was not refused: ${JSON.stringify(error)}`);
}
