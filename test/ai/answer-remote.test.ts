import { expect } from 'chai';
import { type AiService, startAiService } from './support/ai-service.ts';
import { chat, type RemoteModel, startRemoteModel } from './support/remote-model.ts';

describe('answers of a remote model', () => {
  let remote: RemoteModel;
  let service: AiService;
  before(async () => {
    remote = await startRemoteModel();
    service = await startAiService({
      REMOTE_AI_BASE_URL: remote.baseUrl,
      REMOTE_AI_KEY: 'key-of-the-remote',
      REMOTE_AI_CHAT_MODEL: 'talker',
      REMOTE_AI_ANSWER_CONTEXT: '500',
    });
  });
  beforeEach(() => {
    remote.requests.length = 0;
  });
  after(async () => {
    await service.stop();
    await remote.stop();
  });

  const passage = (id: string, text: string) => ({ id, title: 'lease.pdf', page: 3, heading: 'Term', text });
  const asked = { question: 'When does it end?', passages: [passage('a', 'It ends in May.'), passage('b', 'It began in June.')] };
  const saying = (...sentences: unknown[]) => JSON.stringify({ sentences });
  const failureOf = (call: Promise<unknown>) => call.then(() => undefined).catch((error: unknown) => error);

  it('gives the model the question and the passages as data, by their numbers, and no tools', async () => {
    remote.answer = () => chat(saying({ text: 'In May.', citations: [{ passage: 1, quote: 'ends in May' }] }));
    expect(await service.client.answer({ ...asked, maxSentences: 3 })).to.deep.equal({
      sentences: [{ text: 'In May.', citations: [{ passage: 'a', quote: 'ends in May' }] }],
      extractive: false,
      model: 'talker',
    });
    const { path, body } = remote.requests[0] ?? {};
    expect(path).to.equal('/v1/chat/completions');
    expect(body).to.have.all.keys('model', 'temperature', 'messages');
    expect(body.model).to.equal('talker');
    const [system, user, ...others] = body.messages;
    expect([system.role, user.role, others]).to.deep.equal(['system', 'user', []]);
    expect(system.content).to.contain('At most 3 sentences').and.not.contain('May');
    expect(JSON.parse(user.content)).to.deep.equal({
      question: 'When does it end?',
      passages: [
        { passage: 1, title: 'lease.pdf', page: 3, heading: 'Term', text: 'It ends in May.' },
        { passage: 2, title: 'lease.pdf', page: 3, heading: 'Term', text: 'It began in June.' },
      ],
    });
  });

  it('gives it as many of the first passages as REMOTE_AI_ANSWER_CONTEXT allow, and at least one', async () => {
    const given = async (...lengths: number[]) => {
      remote.answer = () => chat(saying());
      await service.client.answer({ ...asked, passages: lengths.map((length, index) => passage(String(index), '字'.repeat(length))) });
      return JSON.parse(remote.requests.at(-1)?.body.messages[1].content).passages.length;
    };
    expect(await given(200, 200, 200)).to.equal(2);
    expect(await given(2_000, 10)).to.equal(1);
  });

  it('reads an answer that is fenced, introduced or thought about', async () => {
    const json = saying({ text: 'In May.', citations: [] });
    for (const said of [`\`\`\`json\n${json}\n\`\`\``, `Here you are: ${json}`, `<think>What { is it?</think>\n${json}`, ` ${json}\n`]) {
      remote.answer = () => chat(said);
      expect((await service.client.answer(asked)).sentences, said).to.deep.equal([{ text: 'In May.', citations: [] }]);
    }
  });

  it('leaves out what is too much, and citations of passages that were not given', async () => {
    const citations = [0, 3, -1, 2].map((number) => ({ passage: number, quote: 'It began' }));
    remote.answer = () => chat(saying(...['One.', 'Two.', 'Three.'].map((text) => ({ text, citations }))));
    const { sentences } = await service.client.answer({ ...asked, maxSentences: 2 });
    expect(sentences).to.deep.equal(['One.', 'Two.'].map((text) => ({ text, citations: [{ passage: 'b', quote: 'It began' }] })));
  });

  it('says that nothing was found if the model finds nothing', async () => {
    remote.answer = () => chat(saying());
    expect(await service.client.answer(asked)).to.deep.equal({ sentences: [], extractive: false, model: 'talker' });
  });

  it('refuses with 502 what is no answer in the form that was asked for', async () => {
    for (const said of [
      '',
      'In May.',
      '[]',
      '{"sentences": "In May."}',
      '{"sentences": [{"text": "In May."}]}',
      '{"sentences": [{"text": "", "citations": []}]}',
      '{"sentences": [{"text": "\\u0000", "citations": []}]}',
      '{"sentences": [{"text": "\\ud800", "citations": []}]}',
      saying({ text: 'a'.repeat(4_001), citations: [] }),
      saying({ text: 'In May.', citations: [{ passage: 'one', quote: '' }] }),
    ]) {
      remote.answer = () => chat(said);
      const error = await failureOf(service.client.answer(asked));
      expect(error, said.slice(0, 60)).to.include({ status: 502, code: 'remote_failed', retryable: true });
    }
    expect(service.program.stdout()).to.not.contain('In May').and.not.contain('ends in');
  });

  it('passes on that the passages are too long for the model', async () => {
    remote.answer = () => ({ status: 400, body: { error: { code: 'context_length_exceeded', message: 'too long' } } });
    expect(await failureOf(service.client.answer(asked))).to.include({ status: 413, code: 'text_too_long_for_model', retryable: false });
  });
});
