import { expect } from 'chai';
import { read } from './support/read.ts';

/** The titles of the headings of Markdown, of which nothing is lost. */
async function titlesOf(text: string) {
  const { text: found, outline } = await read(text, 'text/markdown');
  expect(found).to.equal(text.replace(/^\ufeff/, '').replace(/\r\n/g, '\n'));
  return outline.headings.map(({ title }) => title);
}

describe('Front matter of Markdown', () => {
  const yaml = '---\ntitle: Winter care of hives\nauthor: Ada\ntags: [bees, winter]\n---\n\nLift each hive.\n\n## Straps\n\nPut straps on.';

  it('stays in the text, and is no heading', async () => {
    expect(await titlesOf(yaml)).to.deep.equal(['Straps']);
    expect(await titlesOf(`\ufeff${yaml.replace(/\n/g, '\r\n')}`)).to.deep.equal(['Straps']);
    expect(await titlesOf('---\n# who wrote it\nauthor: Ada\n...\nText\n---')).to.deep.equal(['Text']);
    expect(await titlesOf('+++\n# a comment\ntitle = "Hives"\n+++\n# Straps')).to.deep.equal(['Straps']);
  });

  it('is none where a line only divides, or that has no end', async () => {
    expect(await titlesOf('---\nA title\n---\n\ntext')).to.deep.equal(['A title']);
    expect(await titlesOf('---\ntitle: Hives\n\n# Straps')).to.deep.equal(['Straps']);
    expect(await titlesOf(`# Hives\n\n${yaml}`)).to.deep.equal(['Hives', 'tags: [bees, winter]', 'Straps']);
  });
});
