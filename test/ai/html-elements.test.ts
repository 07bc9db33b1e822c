import { expect } from 'chai';
import fc from 'fast-check';
import { readHtmlPart } from '../../ai/formats/web/read-html.ts';

const read = (html: string) => readHtmlPart({ bytes: Buffer.from(html), mediaType: 'text/html', charset: 'utf-8' }).text.trim();
const wordsOf = (text: string) => text.match(/\p{L}+/gu) ?? [];
/** A page that nests too deeply is read by its tags alone. */
const deep = (html: string) => `${'<font>'.repeat(400)}${html}`;
const split = (names: string) => names.split(' ');

const blocks = split(
  `address article aside audio blockquote center details div fieldset figcaption figure footer form header hgroup legend listing
main p search section summary video h1 h6`.replaceAll('\n', ' '),
);
const inline = split(
  'a abbr b bdi cite code em font i kbd label mark nobr output q ruby rb s slot small span strong sub sup time tt u x-card',
);
const lists = split('ul ol menu dir');
/** Elements that hold only words here: an opening tag of the same kind or of its kin ends most of them. */
const loose = split('pre li dd dt td th tr tbody option optgroup caption');
const unread = split('script style template datalist select button iframe');

describe('The words of adjacent elements of HTML', () => {
  it('are two where a browser begins a line, and one where it does not', () => {
    for (const html of [...blocks, ...lists, ...loose].map((name) => `<${name}>Mirror</${name}><${name}>Dome</${name}>`)) {
      expect(wordsOf(read(html)), html).to.deep.equal(['Mirror', 'Dome']);
      expect(wordsOf(read(`before${html}after`)), html).to.deep.equal(['before', 'Mirror', 'Dome', 'after']);
    }
    for (const name of inline) expect(read(`tele<${name}>sco</${name}>pes`), name).to.equal('telescopes');
    for (const name of ['select', 'button', 'iframe', 'svg']) expect(read(`one<${name}>two</${name}>three`)).to.equal('one three');
    expect(read('<p>inter<wbr>national<br>ferry<script>x</script>man</p>')).to.equal('international\nferryman');
  });

  it('are laid out as lines and paragraphs', () => {
    const html = `<dl><dt>Mirror</dt><dd>Washed monthly</dd></dl><details open><summary>Dome</summary>Painted white</details>
<menu><li>Open</li><li>Close</li></menu><ul><li>One</li><li>Two</li></ul><address>Quay 1<br>Harbor</address>`;
    expect(read(html)).to.equal('Mirror\nWashed monthly\n\nDome\nPainted white\n\n * Open\n * Close\n\n * One\n * Two\n\nQuay 1\nHarbor');
  });

  it('are those that a browser shows: of drawings, of open dialogs, and of trees in the shadow', () => {
    const drawing = `<svg><style>x</style><title>y</title><defs><text>z</text></defs><g><text>High <tspan>water</tspan></text></g>
<text>6.40 m</text><foreignObject><p>At the quay</p></foreignObject></svg>`;
    expect(read(`<p>Tide</p>${drawing}`).split(/\n+/)).to.deep.equal(['Tide', 'High water', '6.40 m', 'At the quay']);
    expect(read('<p>a</p><dialog><p>b</p></dialog><dialog open><p>c</p></dialog><p>d</p>')).to.equal('a\n\nc\n\nd');
    expect(read('<p>a</p><x-note><template shadowrootmode="open"><p>b</p></template></x-note><template>c</template>')).to.equal('a\n\nb');
  });

  it('have the numbers of lists that a browser shows', () => {
    expect(read('<ol start="4"><li>a<li value="9">b<li>c</ol>')).to.equal('4.  a\n 9.  b\n 10. c');
    expect(read('<ol reversed><li>a<li>b</ol>')).to.equal('2. a\n 1. b');
    expect(read('<ol type="i"><li>a<ol type="A"><li>b<li>c</ol><li>d</ol>')).to.equal('i.  a\n     A. b\n     B. c\n ii. d');
  });

  it('are without their readings, with and without the ends of these', () => {
    const parenthesized = '<ruby>望<rp>(</rp><rt>ぼう</rt><rp>)</rp>遠<rt>えん</rt>鏡<rtc>きょう</rtc></ruby>を洗う';
    for (const html of [parenthesized, '<ruby>望遠鏡<rt>ぼうえんきょう</ruby>を洗う'])
      for (const page of [html, deep(html)]) expect(read(page)).to.equal('望遠鏡を洗う');
    expect(read(deep('<p>望<rt>ぼう</p><p>遠鏡</p>'))).to.equal('望\n遠鏡');
  });

  it('are the same however deep the page nests', () => {
    const word = fc.constantFrom('alder', 'birch', 'cedar', ' elm', 'fir ', ' ', 'Ŝelk', '柏');
    const text = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(''));
    const element = (name: string, content: string) => `<${name}>${content}</${name}>`;
    const of = (names: string[], content: fc.Arbitrary<string>) =>
      fc.tuple(fc.constantFrom(...names), content).map(([name, one]) => element(name, one));
    const manyOf = (one: fc.Arbitrary<string>) => fc.array(one, { minLength: 1, maxLength: 2 }).map((parts) => parts.join(''));
    // The library that lays out text begins no line at a table or a list that has nothing in it.
    const filled = (names: string[], content: fc.Arbitrary<string>) =>
      of(
        names,
        content.map((one) => `willow ${one}`),
      );
    const { content } = fc.letrec<{ phrase: string; content: string; rows: string; points: string; terms: string }>((tie) => ({
      phrase: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        text,
        of(inline, tie('phrase')),
        of(unread, text),
        fc.constantFrom('<br>', '<wbr>'),
      ),
      rows: manyOf(manyOf(filled(['td', 'th'], tie('content'))).map((cells) => element('tr', cells))).map((rows) => element('table', rows)),
      points: of(lists, manyOf(filled(['li'], tie('content')))),
      terms: of(['dl'], manyOf(of(['dt', 'dd'], tie('content')))),
      content: fc
        .array(fc.oneof({ maxDepth: 4 }, tie('phrase'), of(blocks, tie('content')), tie('rows'), tie('points'), tie('terms')), {
          maxLength: 3,
        })
        .map((parts) => parts.join('')),
    }));
    const page = fc.array(fc.oneof(content, of(loose, text)), { maxLength: 4 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(page, (html) => void expect(wordsOf(read(html))).to.deep.equal(wordsOf(read(deep(html))))),
      { numRuns: 150 },
    );
  });
});
