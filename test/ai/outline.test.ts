import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { finish } from '../../ai/formats/extract-text.ts';
import { markMarkdownHeadings } from '../../ai/formats/text/markdown-headings.ts';
import { makePdf, makeTextPdf } from './support/make-pdf.ts';
import { read } from './support/read.ts';

describe('The outline of an extracted text', () => {
  /** What stands where a heading is said to be, with its level. */
  const headingsOf = ({ text, outline }: Awaited<ReturnType<typeof read>>) =>
    outline.headings.map(({ level, start }) => `${level} ${[...text].slice(start).join('').split('\n', 1)[0]}`);

  it('tells where each page of a PDF begins', async () => {
    const { text, outline, characters } = await read(readFileSync('docs/examples/samples/observatory-handbook.pdf'), 'application/pdf');
    const starts = outline.page_starts ?? [];
    expect(starts).to.have.length(5);
    expect(starts[0]).to.equal(0);
    for (const start of starts.slice(1)) expect(text.slice(start - 2, start)).to.equal('\n\n');
    const pages = starts.map((start, page) => text.slice(start, starts[page + 1] ?? characters));
    expect(pages.join('')).to.equal(text);
    expect(pages[0]).to.include('1. Welcome');
    expect(pages.findIndex((page) => page.includes('thorium-argon lamp'))).to.be.greaterThan(0);
  });

  it('tells where pages would begin that are empty or were cut off', async () => {
    expect((await read(makePdf('0 0 m 100 100 l S', 3), 'application/pdf')).outline.page_starts).to.deep.equal([0, 0, 0]);
    const { outline, characters } = await read(makeTextPdf('word '.repeat(400), 10), 'application/pdf', { maxTextCharacters: 8_000 });
    expect(characters).to.equal(8_000);
    const starts = outline.page_starts ?? [];
    expect(starts.length).to.be.within(4, 9);
    expect(Math.max(...starts)).to.be.at.most(8_000);
  });

  it('counts characters, whatever is left out of the text', () => {
    const pageTexts = ['', '😀\u0000 one', '', 'two\r\nlines', ''];
    const { text, outline } = finish({ text: '', pages: 5, pageTexts }, 'application/pdf', 1_000);
    expect(text).to.equal('😀 one\n\ntwo\nlines');
    expect(outline.page_starts).to.deep.equal([0, 0, 5, 7, 16]);
    expect(finish({ text: '', pages: 5, pageTexts }, 'application/pdf', 6).outline.page_starts).to.deep.equal([0, 0, 5, 6, 6]);
  });

  it('tells the headings of HTML', async () => {
    const html = `<title>T</title><body><h1>Ferry &amp; quay</h1><p>Overview</p><h2>
      Prices <em>2026</em></h2><table><tr><td><h3>In a cell</h3></td><td>x</td></tr></table><script>h('<h1>no</h1>')</script><h2></h2>
      <h3>Over<br>two</h3><p>text</p><h2>😀 After</h2></body>`;
    const found = await read(html, 'text/html');
    expect(headingsOf(found)).to.include.members(['1 Ferry & quay', '2 Prices 2026', '3 Over', '2 😀 After']);
    expect(found.outline.headings.map(({ title }) => title)).to.include('Over two');
    expect(found.outline.page_starts).to.equal(null);
  });

  it('tells the headings of HTML where they are, not where a table of contents names them', async () => {
    const names = ['Care', 'Mirrors', 'Domes'];
    const contents = names.map((name) => `<p><a href="#${name}">${name}</a></p>`).join('');
    const sections = names.map((name) => `<h2>${name}</h2><p>About it.</p>`).join('');
    const deep = `${'<font>'.repeat(400)}${contents}${sections}`;
    for (const html of [`${contents}<h1>Handbook</h1>${sections}`, deep]) {
      const { text, outline } = await read(html, 'text/html');
      expect(text).not.to.match(/[\ufdd0-\ufdef]/);
      const found = outline.headings.filter(({ level }) => level === 2);
      expect(found.map(({ title }) => title)).to.deep.equal(names);
      expect(found.map(({ start }) => start)).to.deep.equal(names.map((name) => text.lastIndexOf(name)));
    }
  });

  it('tells the headings of HTML after many that have no line of their own', async () => {
    const after = '<h2>Care</h2><p>How to care.</p><h2>Mirrors</h2><p>How to wash.</p>';
    const twelve = (toHtml: (title: string) => string) =>
      Array.from({ length: 12 }, (_, index) => toHtml(`<h3>Card ${index}</h3>`)).join('');
    const before = [
      `<ul>${twelve((title) => `<li>${title}<p>About it.</p></li>`)}</ul>`,
      `<table><tr>${twelve((title) => `<th>${title}</th>`)}</tr></table>`,
      twelve((title) => `<blockquote>${title}</blockquote>`),
      '<ul><li><h4>Mirrors</h4></li></ul>',
    ];
    for (const cards of before) expect(headingsOf(await read(cards + after, 'text/html'))).to.deep.equal(['2 Care', '2 Mirrors']);
  });

  it('tells no heading without a title, and keeps no marks, though the text has them', () => {
    const { text, outline } = finish({ text: 'One\n\ufdd1 \ufdd0\n\ufdd2\ufdd0\n\ufdd3Two', pages: null }, 'text/plain', 100);
    expect([text, outline.headings]).to.deep.equal(['One\n \n\nTwo', []]);
  });

  it('tells no heading of which only a part is kept', () => {
    const text = markMarkdownHeadings('# One\n\n## Two');
    const titlesWithin = (characters: number) =>
      finish({ text, pages: null }, 'text/markdown', characters).outline.headings.map(({ title }) => title);
    expect([12, 13, 4, 5].map(titlesWithin)).to.deep.equal([['One'], ['One', 'Two'], [], ['One']]);
  });

  it('tells the headings of Markdown', async () => {
    const found = await read(readFileSync('docs/examples/samples/beekeeping-notes.md'), 'text/markdown');
    expect(found.outline.headings.length).to.be.greaterThan(2);
    for (const [index, heading] of headingsOf(found).entries())
      expect(heading).to.match(new RegExp(`^${found.outline.headings[index]?.level} #+ `));
    expect((await read('no # heading', 'text/plain')).outline).to.deep.equal({ page_starts: null, headings: [] });
  });

  it('knows both kinds of headings of Markdown, and what looks like one', () => {
    const text = [
      '😀 Title\n===',
      '```\n# One #\n```',
      '# One #',
      '```\n# code\n```',
      '~~~sh\n# code\n```\n# still code\n~~~',
      'Two\n---',
      '- item\n---',
      '\n---',
      '#none',
      '####### seven',
      '#',
      '   ### Three  ',
      '    # indented code',
      '```npm install```',
      '## Four ## #  ##',
      '### ###',
      '# C#\t',
      'a | b\n\n--- | ---',
    ].join('\n\n');
    const { text: kept, outline } = finish({ text: markMarkdownHeadings(text), pages: null }, 'text/markdown', 10_000);
    expect(outline.headings.map(({ level, title }) => [level, title])).to.deep.equal([
      [1, '😀 Title'],
      [1, 'One'],
      [2, 'Two'],
      [3, 'Three'],
      [2, 'Four ## #'],
      [1, 'C#'],
    ]);
    const characters = [...kept];
    for (const { start, title } of outline.headings)
      expect(characters.slice(start).join('').replace(/^#+ /, '').startsWith(title)).to.equal(true);
  });
});
