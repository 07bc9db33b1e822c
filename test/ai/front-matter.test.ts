import { expect } from 'chai';
import { extractText } from '../../ai/formats/extract-text.ts';

const limits = { maxUploadBytes: 10_000_000, maxTextCharacters: 1_000_000, maxPdfPages: 10 };

async function read(text: string) {
  const { text: found, outline } = await extractText({ bytes: Buffer.from(text), mediaType: 'text/markdown', charset: undefined }, limits);
  expect(found).to.equal(text.replace(/^\ufeff/, '').replace(/\r\n/g, '\n'));
  return outline.headings.map(({ title }) => title);
}

describe('Front matter of Markdown', () => {
  const yaml = '---\ntitle: Winter care of hives\nauthor: Ada\ntags: [bees, winter]\n---\n\nLift each hive.\n\n## Straps\n\nPut straps on.';

  it('stays in the text, and is no heading', async () => {
    expect(await read(yaml)).to.deep.equal(['Straps']);
    expect(await read(`\ufeff${yaml.replace(/\n/g, '\r\n')}`)).to.deep.equal(['Straps']);
    expect(await read('---\n# who wrote it\nauthor: Ada\n...\nText\n---')).to.deep.equal(['Text']);
    expect(await read('+++\n# a comment\ntitle = "Hives"\n+++\n# Straps')).to.deep.equal(['Straps']);
  });

  it('is none where a line only divides, or that has no end', async () => {
    expect(await read('---\nA title\n---\n\ntext')).to.deep.equal(['A title']);
    expect(await read('---\ntitle: Hives\n\n# Straps')).to.deep.equal(['Straps']);
    expect(await read(`# Hives\n\n${yaml}`)).to.deep.equal(['Hives', 'tags: [bees, winter]', 'Straps']);
  });
});
