import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { splitBlocks } from '../../ai/summaries/split-blocks.ts';
import { summarizeText } from '../../ai/summaries/summarize-text.ts';
import { splitSentences } from '../../base/text/split-sentences.ts';
import { processorSeconds } from '../support/hostile-texts.ts';
import { useAiService } from './support/use-ai-service.ts';

/** The sentences are told apart by a bar. */
function expectSentences(marked: string): void {
  const expected = marked.split(' | ');
  expect(splitSentences(expected.join(' '))).to.deep.equal(expected);
}

describe('splitting sentences', () => {
  it('goes on after titles, initials and abbreviations', () => {
    expectSentences('Dr. Ines Halloran met Prof. J. R. R. Okoye at St. Anne. | They spoke.');
    expectSentences('Use a lamp, e.g. Argon, i.e. a noble gas, cf. Fig. 3 and No. 5. | It glows.');
    expectSentences('The U.S. Navy bought Acme Inc. shares on Jan. 5 vs. cash. | Nobody knew.');
    expectSentences('M. Dupont est arrivé. | Puis il partit, p. ex. à Paris.');
    expectSentences('Am 3. Oktober kam Dr. Weiß, d. h. spät. | Er sagte z. B. nichts.');
  });

  it('goes on after ordinals, numerals and the abbreviations of laws', () => {
    expectSentences('Wer das 14. Lebensjahr vollendet hat, haftet. | Die Miete ist am 3. Werktag fällig. | Sie steigt nicht.');
    expectSentences('Nach Ziff. 4 und § 11 Abs. 3 Satz 2 gilt Art. VIII. Haftung. | Das bleibt.');
    expectSentences('Heinrich VIII. Tudor starb 1547. | Der Sohn folgte. | World War II. | The end was near.');
    expectSentences('In Smith v. Jones the court agreed. | It was 14. | The next year was worse.');
    expectSentences('3. Der Mieter zahlt am 1. Januar. | IV. Kosten trägt er.');
    expectSentences('Wir kommen am 3. | Der Rest folgt.');
  });

  it('ends where an abbreviation ends the sentence', () => {
    expectSentences('He lives in the U.S. | She does not.');
    expectSentences('The shop closes at 5 p.m. | After that it is dark.');
    expectSentences('Take vitamin C. | The dose matters.');
    expectSentences('They sold pens, ink, etc. | Nobody came.');
    expectSentences('Was it no. | Then yes.');
  });

  it('keeps numbers, versions and addresses whole', () => {
    expectSentences('Pi is 3.14 or so. | Version 2.0.1 costs $3.50 at example.com. | Buy it!');
  });

  it('keeps quotes and brackets with their sentence', () => {
    expectSentences('"Stop!" he said. | "It works." | (See p. 12. It was odd.) | Then they left.');
    expectSentences('Wait... and see. | Really?! | Yes.');
  });

  it('knows the marks of other scripts', () => {
    expect(splitSentences('东京是日本的首都。人口超过一千三百万！很大吗？')).to.deep.equal([
      '东京是日本的首都。',
      '人口超过一千三百万！',
      '很大吗？',
    ]);
    expect(splitSentences('彼は「はい。」と言った。終わり。')).to.deep.equal(['彼は「はい。」と言った。', '終わり。']);
    expect(splitSentences('यह एक वाक्य है। यह दूसरा है।')).to.have.length(2);
  });
});

describe('splitting a document', () => {
  it('tells headings, prose, list items and rows apart and drops the marks of Markdown', () => {
    const blocks = splitBlocks(`---
title: x
---
# The *big* title

A [link](http://a.example/x_y_z) and **bold** and \`code\`,
wrapped over two lines. snake_case_name, <jobId> and 2 * 3 * 4 stay.<br>

- first item
- [ ] second **item**

| a | b |
|---|---|
| 1 | 2 |

\`\`\`js
const hidden = 1;
\`\`\`
Setext
======
> A quote.
`);
    expect(blocks).to.deep.equal([
      { kind: 'heading', text: 'The big title' },
      { kind: 'prose', text: 'A link and bold and code, wrapped over two lines. snake_case_name, <jobId> and 2 * 3 * 4 stay.' },
      { kind: 'item', text: 'first item' },
      { kind: 'item', text: 'second item' },
      { kind: 'row', text: 'a, b' },
      { kind: 'row', text: '1, 2' },
      { kind: 'heading', text: 'Setext' },
      { kind: 'prose', text: 'A quote.' },
    ]);
  });

  it('drops what is printed on every page', () => {
    const pages = [1, 2, 3, 4].map((page) => `Field Handbook - page ${page} of 4\n\nThis is what page ${page} says, in full sentences.`);
    const texts = splitBlocks(pages.join('\n\n')).map(({ text }) => text);
    expect(texts.join(' ')).to.not.contain('Field Handbook');
  });
});

describe('summarizing', () => {
  it('takes a paragraph of very many lines in time', async () => {
    for (const line of ['*\n', 'a\n', '漢\n'])
      expect(await processorSeconds(() => summarizeText(line.repeat(100_000), 5)), line).to.be.below(2);
  });

  const handbook = readFileSync('docs/examples/samples/lighthouse-log.txt', 'utf8');

  it('chooses sentences of the text, in their order, as many as asked for', () => {
    for (const count of [1, 3, 5]) {
      const { summary, sentences, model, characters } = summarizeText(handbook, count);
      expect([sentences, model, characters]).to.deep.equal([count, 'local-extractive', handbook.length]);
      const plain = handbook.replace(/\s+/g, ' ');
      const positions = splitSentences(summary).map((sentence) => plain.indexOf(sentence));
      expect(positions).to.not.include(-1);
      expect(positions).to.deep.equal(positions.toSorted((a, b) => a - b));
    }
  });

  it('prefers what the text is about', () => {
    const text = `Solar panels on the school roof now make most of its power. My aunt has a red bicycle. The panels on the roof were paid for by
parents of the school. Lunch was soup. In summer the solar panels make more power than the school uses, and the rest is sold.`;
    const { summary } = summarizeText(text, 2);
    expect(summary)
      .to.contain('panels')
      .and.not.match(/aunt|soup/);
  });

  it('does not repeat itself', () => {
    const sentence = 'The ferry leaves the northern pier at nine in the morning on every working day.';
    const almost = 'The ferry leaves the northern pier at nine in the morning on every single working day.';
    const text = `${sentence} ${sentence} ${almost} Tickets are sold on board by the captain. ${sentence}`;
    const { summary, sentences } = summarizeText(text, 5);
    expect(sentences).to.equal(2);
    expect(summary).to.contain('Tickets are sold');
  });

  it('uses a list or a table where there is nothing else', () => {
    const list = summarizeText('- buy milk and bread\n- call the harbour office\n- water the plants', 2);
    expect(list.sentences).to.equal(2);
    expect(list.summary).to.match(/^[^-•]*\.( [^-•]*\.)$/);
    const csv = summarizeText(readFileSync('docs/examples/samples/seed-inventory.csv', 'utf8'), 2);
    expect(csv.sentences).to.equal(2);
    expect(csv.summary).to.contain('SB-00').and.not.contain('accession');
  });

  it('works in other languages', () => {
    const german = `Die Fähre fährt täglich um neun Uhr vom Nordpier ab. Meine Tante hat ein rotes Rad. Die Fähre zum Nordpier kostet für Kinder die Hälfte.
Das Wetter war schön. Bei Nebel fährt die Fähre vom Nordpier langsamer.`;
    expect(summarizeText(german, 2).summary).to.contain('Fähre').and.not.contain('Tante');
    const chinese = '渡轮每天九点从北码头出发。我的阿姨有一辆红色自行车。渡轮从北码头到岛上需要一小时。大雾时渡轮从北码头开得更慢。';
    const summary = summarizeText(chinese, 2);
    expect(summary.sentences).to.equal(2);
    expect(summary.summary)
      .to.contain('渡轮')
      .and.not.match(/阿姨| /);
  });

  it('answers something for every text', () => {
    for (const text of ['word', '   \n', '!!!', '🌊'.repeat(500), `${'a'.repeat(5000)} b`, '\n# only a heading\n', '1\n2\n3', 'x,y\n1,2']) {
      const { summary, sentences } = summarizeText(text, 3);
      expect(sentences, text.slice(0, 20)).to.equal(text.trim() === '' ? 0 : Math.max(1, sentences));
      expect(summary).to.equal(summary.toWellFormed());
      expect(summary.length).to.be.at.most(2000);
    }
  });

  it('takes the same time for every word of a long and hostile text', () => {
    const texts = [
      readFileSync('docs/examples/samples/beekeeping-notes.md', 'utf8').repeat(70),
      Array.from({ length: 20_000 }, (_, index) => `Word${index} is. `).join(''),
      '('.repeat(200_000),
      '[a]('.repeat(50_000),
      '`_*'.repeat(66_000),
      '| '.repeat(100_000),
      '\n- a'.repeat(50_000),
      'e.g. '.repeat(40_000),
      '漢字'.repeat(100_000),
    ];
    for (const text of texts) {
      const startedAt = process.cpuUsage().user;
      summarizeText(text.slice(0, 200_000), 50);
      const cpuMs = (process.cpuUsage().user - startedAt) / 1000;
      expect(cpuMs, JSON.stringify(text.slice(0, 20))).to.be.below(4000);
    }
  });
});

describe('/v1/summarize', () => {
  const service = useAiService();

  it('answers 5 sentences unless told otherwise', async () => {
    const text = readFileSync('docs/examples/samples/beekeeping-notes.md', 'utf8');
    const { summary, sentences, characters } = await service.client.summarize({ text });
    expect([sentences, characters]).to.deep.equal([5, text.length]);
    expect(summary).to.not.match(/[#*|]/);
    expect(await service.client.summarize({ text })).to.have.property('summary', summary);
    expect((await service.client.summarize({ text, maxSentences: 2 })).sentences).to.equal(2);
  });
});
