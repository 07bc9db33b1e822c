import { expect } from 'chai';
import { startAiService, token } from '../ai/support/ai-service.ts';
import { chat, type RemoteAnswer, type RemoteRequest, startRemoteModel } from '../ai/support/remote-model.ts';
import { createJob } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { expectOk } from '../support/requests.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

/** A provider that counts what it charges for: the calls that it answered, by role, and those that it never did. */
const counted = { chat: zero(), embed: zero(), cut: 0 };
let plan: (request: RemoteRequest) => 'answer' | 'fail' | 'hang' = () => 'answer';

function zero() {
  return { calls: 0, input: 0, cached: 0, output: 0 };
}

function provide(request: RemoteRequest): RemoteAnswer {
  const { path, body } = request;
  const planned = plan(request);
  if (planned === 'fail') return { status: 500, body: {} };
  if (planned === 'hang') {
    counted.cut += 1;
    return 'hang';
  }
  const role = path.endsWith('/embeddings') ? 'embed' : 'chat';
  const input = JSON.stringify(body).length;
  const used = { input, cached: role === 'chat' ? Math.floor(input / 3) : 0, output: role === 'chat' ? 17 : 0 };
  for (const name of ['input', 'cached', 'output'] as const) counted[role][name] += used[name];
  counted[role].calls += 1;
  const usage = { prompt_tokens: input, total_tokens: input + used.output };
  if (role === 'embed') {
    const data = body.input.map((_: string, index: number) => ({ index, embedding: [0.6, 0.8] }));
    return { status: 200, body: { data, usage } };
  }
  const answer = chat(JSON.stringify({ answer: [{ units: [1] }] })) as Exclude<RemoteAnswer, 'hang'>;
  const details = { completion_tokens: used.output, prompt_tokens_details: { cached_tokens: used.cached } };
  return { ...answer, body: { ...(answer.body as object), usage: { ...usage, ...details } } };
}

describe('The calls of providers', () => {
  const stops: (() => Promise<void>)[] = [];
  const { api, tenant } = useApi({
    process: true,
    services: ['api', 'worker'],
    check: 'at the end',
    env: async () => {
      const remote = await startRemoteModel();
      remote.answer = provide;
      const ai = await startAiService({
        REMOTE_AI_BASE_URL: remote.baseUrl,
        REMOTE_AI_KEY: 'key-of-the-remote',
        REMOTE_AI_CHAT_MODEL: 'talker',
        REMOTE_AI_EMBED: '?model=embedder&dimensions=2&chunkCharacters=300&batch=2',
      });
      stops.push(ai.stop, remote.stop);
      return withTimes({ jobRetryDelays: [200] }, { WORKER_EMBED_CALLS: '1', AI_SERVICE_URL: ai.url, SERVICE_TOKEN: token });
    },
  });
  after(async () => {
    for (const stop of stops) await stop();
  });

  const rows = () => api.database.db.selectFrom('provider_call').selectAll().orderBy('id').execute();
  const done = (id: string) => api.jobIn(tenant.owner.token, id, ['succeeded'], 60_000);
  const call = (operation: string, input: object) =>
    expectOk(api.rpc(operation, { workspaceId: tenant.workspaceId, ...input }, { token: tenant.owner.token }));

  /** What the rows of a role add up to, without the calls whose use is unknown. */
  async function recorded(role: 'chat' | 'embed') {
    const sums = zero();
    for (const row of (await rows()).filter((each) => each.role === role)) {
      sums.calls += row.calls - row.unreported_calls;
      sums.input += row.input_tokens;
      sums.cached += row.cached_tokens;
      sums.output += row.output_tokens;
    }
    return sums;
  }

  async function expectEqual() {
    expect(await recorded('chat')).to.deep.equal(counted.chat);
    expect(await recorded('embed')).to.deep.equal(counted.embed);
    const unknown = (await rows()).reduce((sum, row) => sum + row.unreported_calls, 0);
    expect(unknown, 'calls of unknown use').to.equal(counted.cut);
  }

  const text = Array.from({ length: 12 }, (_, index) => `Paragraph ${index} says that ${'the bridge is closed. '.repeat(10)}`).join('\n\n');
  const place = () => ({ organization_id: tenant.organizationId, workspace_id: tenant.workspaceId });

  it('are stored with what they were made for: a job, a search, an answer', async () => {
    const documentId = (await api.upload(tenant, { bytes: text })).id;
    const job = await createJob(api, tenant, { kind: 'document.index', documentId });
    await done(job.id);
    const [first] = await rows();
    expect(first).to.include({ ...place(), document_id: documentId, purpose: 'job', purpose_id: job.id, attempt: 1, model: 'embedder' });
    const calls = counted.embed.calls;
    expect(calls).to.be.above(3);
    await createJob(api, tenant, { kind: 'text.summarize', text: 'Nothing but a text.' }).then(({ id }) => done(id));

    await call('documents.search', { query: 'bridge', mode: 'semantic' });
    const asked = await call('documents.ask', { question: 'Is the bridge closed?', mode: 'semantic' });
    const found = (await rows()).map(({ purpose, role, purpose_id }) => [purpose, role, purpose_id]);
    expect(found.slice(-3).map(([purpose, role]) => [purpose, role])).to.deep.equal([
      ['search', 'embed'],
      ['answer', 'embed'],
      ['answer', 'chat'],
    ]);
    expect(found.at(-1)?.[2]).to.equal(asked.body.json.id);
    await expectEqual();
  });

  it("of a new version are the document's", async () => {
    const { id } = await api.upload(tenant, { bytes: text });
    await done((await createJob(api, tenant, { kind: 'document.index', documentId: id })).id);
    const before = (await rows()).length;
    const bytes = `${text} And more.`;
    const file = { workspaceId: tenant.workspaceId, name: 'note.txt', contentType: 'text/plain', size: Buffer.byteLength(bytes) };
    const { token } = tenant.owner;
    const { document, upload } = (await expectOk(api.rpc('documents.createUpload', { ...file, replaces: id }, { token }))).body.json;
    await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: bytes });
    await expectOk(api.rpc('documents.complete', { id: document.id }, { token }));
    await until(async () => (await expectOk(api.rpc('documents.get', { id }, { token }))).body.json.version === 2);
    const documents = new Set((await rows()).slice(before).map((row) => row.document_id));
    expect([...documents]).to.deep.equal([id]);
    await expectEqual();
  });

  it('of an attempt that failed are stored, and those of the next one too: both were paid for', async () => {
    const documentId = (await api.upload(tenant, { bytes: text })).id;
    let answered = 0;
    plan = ({ body }) => (body.input && ++answered === 3 ? 'fail' : 'answer');
    const job = await createJob(api, tenant, { kind: 'document.index', documentId });
    expect(await done(job.id)).to.include({ attempts: 2 });
    const attempts = new Set((await rows()).filter((row) => row.purpose_id === job.id).map(({ attempt }) => attempt));
    expect([...attempts]).to.deep.equal([1, 2]);
    await expectEqual();
  });

  nightly('that were cut by the death of the worker are unknown, and those before and after it known to the token', async () => {
    const documentId = (await api.upload(tenant, { bytes: text })).id;
    const [before, cutBefore] = [counted.embed.calls, counted.cut];
    plan = ({ body }) => (body.input && counted.embed.calls >= before + 2 ? 'hang' : 'answer');
    const job = await createJob(api, tenant, { kind: 'document.index', documentId });
    await until(() => counted.cut > cutBefore);
    await until(async () => (await recorded('embed')).calls === counted.embed.calls);
    await api.stack.kill('worker', 'SIGKILL');
    plan = () => 'answer';
    await api.stack.start('worker');

    expect(await done(job.id)).to.include({ attempts: 2 });
    const cut = (await rows()).filter((row) => row.unreported_calls > 0);
    expect(cut.length).to.be.above(0);
    for (const row of cut) expect(row).to.include({ ...place(), purpose_id: job.id, attempt: 1, calls: 1, model: null, input_tokens: 0 });
    await expectEqual();
  });

  it('are none where nothing is asked of a provider', async () => {
    const before = (await rows()).length;
    await call('documents.search', { query: 'bridge', mode: 'lexical' });
    expect(await rows()).to.have.length(before);
  });
});
