import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { loadAiServiceConfig } from '../../base/config/ai-service.ts';
import { loadServerConfig } from '../../base/config/server.ts';
import { variables } from '../../base/config/variables.ts';

/** The variables of each block of a page, by the heading above it. */
function blocksOf(page: string): Map<string, Record<string, string>> {
  const blocks = new Map<string, Record<string, string>>();
  for (const section of readFileSync(page, 'utf8').split('\n## ').slice(1)) {
    const [title = ''] = section.split('\n');
    const [, block] = /^```sh\n(.*?)^```$/ms.exec(section) ?? [];
    const lines = block?.split('\n').flatMap((line) => [...line.matchAll(/^([A-Z_]+)=(\S+)/g)]) ?? [];
    if (lines.length > 0) blocks.set(title, Object.fromEntries(lines.map(([, name, value]) => [name, value])));
  }
  return blocks;
}

describe('The recipes', () => {
  const models = blocksOf('docs/models.md');

  it('of models are those of Ollama, vLLM, OpenAI and Azure', () => {
    expect([...models.keys()]).to.deep.equal(['Ollama', 'vLLM', 'OpenAI', 'Azure OpenAI']);
  });

  for (const [title, env] of models)
    it(`of ${title} are settings with which the AI service starts, answers and embeds by that model`, () => {
      expect(variables.aiService).to.include.members(Object.keys(env));
      const { remote } = loadAiServiceConfig({ SERVICE_TOKEN: 'secret', ...env });
      const { REMOTE_AI_BASE_URL: url = 'https://api.openai.com/v1', REMOTE_AI_CHAT: chat = url, REMOTE_AI_EMBED: embed = url } = env;
      for (const [given, read] of [
        [chat, remote.chat],
        [embed, remote.embed],
      ] as const)
        expect(read?.baseUrl).to.equal(given.replace('KEY@', '').replace(/\?.*/, ''));
      expect([remote.chat?.key, remote.embed?.key]).not.to.include(undefined);
    });

  it('of single sign-on are settings with which the API starts, and offers the provider', () => {
    const [env = {}] = blocksOf('docs/single-sign-on.md').values();
    const given = { AUTH_SECRET: '0123456789abcdef', SERVICE_TOKEN: 'secret', DATABASE_URL: 'postgres://localhost/sheaf', ...env };
    expect(loadServerConfig(given).providers.map(({ id }) => id)).to.deep.equal(['provider_a']);
  });
});
