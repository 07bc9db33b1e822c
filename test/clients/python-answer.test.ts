import { expect } from 'chai';
import { createKey } from '../support/api-keys.ts';
import { aiError, quoting } from '../support/fake-ai.ts';
import { expectOk } from '../support/requests.ts';
import { useApi } from '../support/use-api.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from './support/faulty-proxy.ts';
import { type PythonKind, pythonKinds, pythonProgram, runPython } from './support/python-client.ts';

const sentences = ['The mirrors are washed every month.', 'The dome opens at dusk.', 'The lamp is lit by hand.'];
const question = { question: 'How is the observatory kept? mirrors dome lamp', mode: 'lexical' };

describe("The Python client's stream of an answer", () => {
  const { api, ai, tenant } = useApi({ ai: true, env: { QUESTION_LIMIT_PER_MINUTE: '1000' }, check: 'after each test' });
  let proxy: FaultyProxy;
  let token: string;

  before(async () => {
    proxy = await startFaultyProxy(api.url);
    ({ token } = await createKey(api, tenant));
    const { id: documentId } = await api.upload(tenant, { name: 'handbook.txt', bytes: sentences.join(' ') });
    const body = { kind: 'document.index', documentId };
    await api.jobIn(token, (await expectOk(api.request('POST', '/api/v1/jobs', { token, body }))).body.id, ['succeeded']);
  });
  beforeEach(() => {
    proxy.passed.length = 0;
    proxy.faults = () => undefined;
    ai.behave('answer', quoting(sentences));
  });
  after(() => proxy.close());

  const usedCredits = async (): Promise<number> =>
    (await expectOk(api.request('GET', `/api/v1/organizations/${tenant.organizationId}/usage`, { token }))).body.usage.aiCredits;
  const sent = (header: string) => proxy.passed.map(({ headers }) => headers[header]);
  const breakBy = (...faults: Fault[]) => {
    proxy.faults = () => faults[proxy.passed.length - 1];
  };

  async function ask(kind: PythonKind, options: object = {}): Promise<any[]> {
    const env = { SHEAF_URL: proxy.url, SHEAF_API_KEY: token, WORKSPACE: tenant.workspaceId };
    const program = runPython(['-c', pythonProgram('ask', kind), JSON.stringify({ ...question, ...options })], { env });
    expect(await program.exited, program.stderr()).to.deep.equal({ code: 0, signal: null });
    expect(program.stderr()).to.equal('');
    return program
      .stdout()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  for (const kind of pythonKinds) {
    it(`tells each sentence once, and is charged once, however often the connection breaks (${kind})`, async () => {
      const before = await usedCredits();
      // Nobody hears of the first answer, of the second one only that it is there; the others break after a sentence.
      breakBy('lose-answer', 'mute', { cutAfter: sentences[0] as string }, { cutAfter: sentences[1] as string });
      const events = await ask(kind, { max_silence: 2 });
      expect(events.map(({ text, type }) => text ?? type)).to.deep.equal([...sentences, 'end']);
      expect(events.at(-1)).to.include({ withheld: 0, credits: 3 });
      expect((await usedCredits()) - before).to.equal(3);
      const [first, lost, begun, ...rest] = sent('last-event-id');
      expect([first, lost]).to.deep.equal([undefined, undefined]);
      expect(begun).to.be.a('string');
      expect(rest).to.deep.equal(events.slice(0, 2).map(({ lastEventId }) => lastEventId));
      expect(new Set(sent('idempotency-key'))).to.have.length(1);
    });

    it(`gives up when the service stays away, and ends with the error when it is refused (${kind})`, async () => {
      proxy.faults = () => 'lose-request';
      expect(await ask(kind)).to.deep.equal([{ code: 'NETWORK', status: 0 }]);
      expect(proxy.passed).to.have.length(4);
      proxy.faults = () => undefined;
      expect(await ask(kind, { limit: 0 })).to.deep.equal([{ code: 'BAD_REQUEST', status: 400 }]);
      ai.behave('answer', () => aiError(502, 'remote_failed'));
      expect(await ask(kind)).to.deep.equal([{ code: 'SERVICE_UNAVAILABLE', status: 503 }]);
    });
  }

  it('goes on after an event, or by its own key, in another program', async () => {
    const before = await usedCredits();
    const [first] = await ask('sync', { idempotency_key: 'a night' });
    const rest = await ask('sync', { last_event_id: first.lastEventId });
    expect(rest.map(({ text, type }) => text ?? type)).to.deep.equal([...sentences.slice(1), 'end']);
    expect(await ask('async', { idempotency_key: 'a night' })).to.have.length(4);
    expect((await usedCredits()) - before).to.equal(3);
  });
});
