import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type AiService, startAiService } from './support/ai-service.ts';
import { chat, type RemoteModel, startRemoteModel, withKey } from './support/remote-model.ts';

describe('the AI service with a host for each role', () => {
  let hosts: Record<'chat' | 'embed' | 'vision', RemoteModel>;
  let service: AiService;
  before(async () => {
    const [talker, embedder, seer] = await Promise.all([startRemoteModel(), startRemoteModel(), startRemoteModel()]);
    hosts = { chat: talker, embed: embedder, vision: seer };
    service = await startAiService({
      OCR_PROVIDER: 'auto',
      REMOTE_AI_BASE_URL: talker.baseUrl,
      REMOTE_AI_KEY: 'key-of-all',
      REMOTE_AI_EMBED: withKey(embedder.baseUrl, 'key-of-embedder'),
      REMOTE_AI_VISION: withKey(seer.baseUrl, 'key-of-seer'),
    });
  });
  after(async () => {
    await service.stop();
    await Promise.all(Object.values(hosts).map((host) => host.stop()));
  });

  it('asks each at its own, with its own key', async () => {
    hosts.chat.answer = ({ body }) => chat(body.messages[0].content.startsWith('Summarize') ? 'A summary.' : '{"answer":[]}');
    hosts.embed.answer = () => ({ status: 200, body: { data: [{ index: 0, embedding: [1, 2] }] } });
    hosts.vision.answer = () => chat('NOTICE');
    await service.client.summarize({ text: 'A text.' });
    await service.client.answer({ question: 'When?', passages: [] });
    expect((await service.client.embed({ texts: ['a'] })).dimensions).to.equal(2);
    const notice = readFileSync('docs/examples/samples/trail-notice.png');
    expect((await service.client.extract({ body: notice, contentType: 'image/png' })).text).to.equal('NOTICE');
    const asked = Object.entries(hosts).map(([role, { requests }]) => [
      role,
      requests.map(({ path, headers }) => `${path} ${headers.authorization}`),
    ]);
    expect(Object.fromEntries(asked)).to.deep.equal({
      chat: ['/v1/chat/completions Bearer key-of-all', '/v1/chat/completions Bearer key-of-all'],
      embed: ['/v1/embeddings Bearer key-of-embedder'],
      vision: ['/v1/chat/completions Bearer key-of-seer'],
    });
  });
});
