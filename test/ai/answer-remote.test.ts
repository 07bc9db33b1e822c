import { expect } from 'chai';
import { chat } from './support/remote-model.ts';
import { useRemoteModel } from './support/use-ai-service.ts';

describe('answers of a remote model', () => {
  const { remote, service } = useRemoteModel((baseUrl) => ({
    REMOTE_AI_BASE_URL: baseUrl,
    REMOTE_AI_KEY: 'key-of-the-remote',
    REMOTE_AI_CHAT_MODEL: 'talker',
    REMOTE_AI_CHAT: '?context=500',
  }));

  const passage = (...texts: string[]) => ({
    ...{ title: 'lease.pdf', page: 3, heading: 'Term' },
    units: texts.map((text) => ({ text, context: 'Term', heading: false })),
  });
  const asked = {
    question: 'When does it end?',
    passages: [passage('It ends in May.', 'It began in June.'), passage('It may end early.')],
  };
  const failureOf = (call: Promise<unknown>) => call.then(() => undefined).catch((error: unknown) => error);

  it('gives the model the question and the units as data, by their numbers, and no tools', async () => {
    remote.answer = () => chat('{"answer":[{"units":[1],"mark":"in May"}],"draft":"May."}');
    const said = { answer: [{ units: [1], mark: 'in May' }], draft: null, extractive: false, model: 'talker' };
    expect(await service.client.answer({ ...asked, maxSentences: 3 })).to.deep.equal(said);
    expect(await service.client.answer({ ...asked, draft: true })).to.deep.equal({ ...said, draft: 'May.' });
    const { path, body } = remote.requests[0] ?? {};
    expect(path).to.equal('/v1/chat/completions');
    expect(body).to.have.all.keys('model', 'temperature', 'messages');
    const [system, user, ...others] = body.messages;
    expect([system.role, user.role, others]).to.deep.equal(['system', 'user', []]);
    expect(system.content).to.contain('at most 3 entries').and.not.contain('May').and.not.contain('draft');
    expect(remote.requests[1]?.body.messages[0].content).to.contain('draft');
    expect(JSON.parse(user.content)).to.deep.equal({
      question: 'When does it end?',
      passages: [
        { title: 'lease.pdf', page: 3, heading: 'Term', units: { 1: 'It ends in May.', 2: 'It began in June.' } },
        { title: 'lease.pdf', page: 3, heading: 'Term', units: { 3: 'It may end early.' } },
      ],
    });
  });

  it('gives it as many of the first passages as its context allows, and at least one', async () => {
    const given = async (...lengths: number[]) => {
      remote.answer = () => chat('{"answer":[]}');
      await service.client.answer({ ...asked, passages: lengths.map((length) => passage('字'.repeat(length))) });
      return JSON.parse(remote.requests.at(-1)?.body.messages[1].content).passages.length;
    };
    expect(await given(200, 200, 200)).to.equal(2);
    expect(await given(2_000, 10)).to.equal(1);
  });

  it('reads an answer that is fenced, introduced or thought about', async () => {
    const json = '{"answer":[{"units":1}]}';
    for (const said of [`\`\`\`json\n${json}\n\`\`\``, `Here you are: ${json}`, `<think>What { is it?</think>\n${json}`, ` ${json}\n`]) {
      remote.answer = () => chat(said);
      expect((await service.client.answer(asked)).answer, said).to.deep.equal([{ units: [1], mark: null }]);
    }
  });

  it('refuses with 502 what is no answer in the form that was asked for', async () => {
    for (const said of ['', 'In May.', '[]', '{}', '{"answer": "In May."}']) {
      remote.answer = () => chat(said);
      const error = await failureOf(service.client.answer(asked));
      expect(error, said).to.include({ status: 502, code: 'remote_failed', retryable: true });
    }
    expect(service.program.stdout()).to.not.contain('In May').and.not.contain('ends in');
  });

  it('has the model rewrite a question of a conversation, on one line, and refuses what is no question', async () => {
    const rewrite = { question: 'When does it end?', earlier: ['Who signed the lease?'] };
    remote.answer = () => chat('{"question":"When does\\n the lease end?"}');
    expect(await service.client.rewrite(rewrite)).to.equal('When does the lease end?');
    const { messages } = remote.requests[0]?.body ?? {};
    expect(JSON.parse(messages[1].content)).to.deep.equal({ earlier: rewrite.earlier, question: rewrite.question });
    for (const said of ['', 'The lease ends in May.', '{}', '{"question":" "}', JSON.stringify({ question: 'a'.repeat(1_001) })]) {
      remote.answer = () => chat(said);
      expect(await failureOf(service.client.rewrite(rewrite)), said).to.include({ status: 502, code: 'remote_failed' });
    }
  });

  it('passes on that the passages are too long for the model', async () => {
    remote.answer = () => ({ status: 400, body: { error: { code: 'context_length_exceeded', message: 'too long' } } });
    expect(await failureOf(service.client.answer(asked))).to.include({ status: 413, code: 'text_too_long_for_model', retryable: false });
  });
});
