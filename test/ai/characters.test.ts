import { expect } from 'chai';
import { countCharacters, endOfCharacters } from '../../ai/characters.ts';
import { summarizeText } from '../../ai/summaries/summarize-text.ts';
import { refusalOf } from './support/ai-service.ts';
import { useAiService } from './support/use-ai-service.ts';

const wave = '🌊';
/** Every character as two escapes of six bytes, as some JSON writers send what is not ASCII. */
const escaped = (body: object) => JSON.stringify(body).replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);

describe('the AI service counts the characters of a text in code points', () => {
  const service = useAiService({ MAX_TEXT_CHARACTERS: '1000' });

  const post = (path: string, body: string) => service.ask(path, { method: 'POST', body, headers: { 'content-type': 'application/json' } });

  it('when it summarizes', async () => {
    for (const write of [JSON.stringify, escaped]) {
      const exact = await post('/v1/summarize', write({ text: wave.repeat(1000) }));
      expect([exact.status, await exact.json()]).to.deep.equal([
        200,
        { summary: wave.repeat(300), sentences: 1, model: 'local-extractive', characters: 1000 },
      ]);
      const over = await post('/v1/summarize', write({ text: wave.repeat(1001) }));
      expect(await refusalOf(over)).to.deep.equal([413, 'text_too_long']);
    }
  });

  it('when it embeds', async () => {
    for (const write of [JSON.stringify, escaped]) {
      const exact = await post('/v1/embed', write({ texts: Array(64).fill(wave.repeat(8000)) }));
      expect(exact.status).to.equal(200);
      expect(await refusalOf(await post('/v1/embed', write({ texts: [wave.repeat(8001)] })))).to.deep.equal([413, 'text_too_long']);
    }
  });

  it('when it extracts', async () => {
    const exact = await service.client.extract({ body: Buffer.from(wave.repeat(1000)), contentType: 'text/plain' });
    expect(exact).to.include({ text: wave.repeat(1000), characters: 1000, truncated: false });
    const over = await service.client.extract({ body: Buffer.from(`x${wave.repeat(1000)}`), contentType: 'text/plain' });
    expect(over).to.include({ text: `x${wave.repeat(999)}`, characters: 1000, truncated: true });
  });

  it('wherever it ends a part of one, and cuts no character in two', () => {
    expect([countCharacters(`a${wave}b`), endOfCharacters(`a${wave}b`, 2), endOfCharacters(`a${wave}`, 9)]).to.deep.equal([3, 3, 3]);
    const { summary } = summarizeText(`a${wave.repeat(2000)}. And one more.`, 50);
    expect(summary.isWellFormed() && !summary.includes('\ufffd')).to.equal(true);
  });
});
