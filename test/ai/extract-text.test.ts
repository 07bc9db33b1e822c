import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { read, textOf } from './support/read.ts';

const maxTextCharacters = 200_000;
const html = (page: string) => textOf(page, 'text/html');

describe('Text documents', () => {
  it('reads Markdown, CSV and JSON as they are written', async () => {
    for (const [text, mediaType] of [
      ['# Title\n\n*text*', 'text/markdown'],
      ['a,b\n1,2\n', 'text/csv'],
      ['{"a": [1, 2]}', 'application/json'],
      ['{"broken": ', 'application/json'],
    ] as const)
      expect(await textOf(text, mediaType)).to.equal(text);
  });

  it('survives any bytes and answers only what a database stores', async () => {
    const any = Array.from({ length: 4096 }, (_, index) => (index * 7 + (index >> 8)) % 256);
    // A zero byte among the first of these would tell that it is no text.
    const everything = Buffer.concat([Buffer.from('x'.repeat(1024)), Buffer.from(any)]);
    for (const charset of [undefined, 'utf-8', 'utf-16le', 'windows-1252']) {
      const { text, characters } = await read(everything, 'text/plain', { charset });
      expect(text).to.equal(text.toWellFormed());
      expect(text).to.not.match(/[^\P{Cc}\t\n]/u);
      expect(characters).to.equal([...text].length);
    }
  });

  it('removes NUL and other control characters and evens line ends', async () => {
    expect(await textOf('a\0b\x1b[31m\tc\r\nd\re\u2028f\fg\x7f\ufeff', 'text/plain')).to.equal('ab\tc\nd\ne\nf\n\ng');
    // A high surrogate alone, between two letters.
    const torn = Buffer.from([0x61, 0, 0x3d, 0xd8, 0x62, 0]);
    expect(await textOf(torn, 'text/plain', { charset: 'utf-16le' })).to.match(/^a\ufffd?b$/);
  });

  it('removes what only says where a line may end, so that words are whole', async () => {
    const page = '<p>Donau&shy;dampf&shy;schiff, inter&ZeroWidthSpace;national, 20&NoBreak;km</p><h2>Do&shy;nau</h2>';
    const { text, outline } = await read(page, 'text/html');
    expect(text).to.equal('Donaudampfschiff, international, 20km\n\nDonau');
    expect(outline.headings).to.deep.equal([{ level: 2, start: 39, title: 'Donau' }]);
    // Joiners of letters, and the ends of words in Khmer, also behind a sign above a letter.
    for (const kept of ['می\u200cخواهم', 'क्\u200dष', 'ភាសា\u200bខ្មែរ', 'ទី\u200bក្រុង'])
      expect(await textOf(kept, 'text/plain')).to.equal(kept);
  });

  it('reads the text of HTML without scripts, styles and addresses', async () => {
    const text = await html(readFileSync('docs/examples/samples/ferry-timetable.html', 'utf8'));
    expect(text).to.contain('Lake Marren Ferries: timetable and fares');
    expect(text).to.contain('\n| Oldwick pier | Cutter’s Cove | 08:15 | 17:45 | 90 minutes |\n');
    expect(text).to.contain('The steamer Aurelia leaving Oldwick pier');
    expect(text).to.not.match(/scripted|font-family|href|<|&rsquo;/);
  });

  it('reads the caption of a table, and its cells whatever stands around them', async () => {
    const tables = {
      '<table><caption>Fares of <b>2026</b></caption><tr><td>a<td>b</table>': 'Fares of 2026\n\n| a | b |',
      '<table><form><tr><td>a</td><td>b</td></tr></form><tr><td>c</td><td>d</td></tr></table>': '| a | b |\n| c | d |',
      '<table><td>a</td><th>b</th><tr><td>c</td></tr></table>': '| a | b |\n| c |',
      '<table><tr><form><td>a</td><td>b</td></form></tr></table>': '| a | b |',
      '<table><caption>Plan</caption><tbody><tr><td><table><tr><td>a</td></tr></table></td></tr></tbody></table>': 'Plan\n\n| a |',
    };
    for (const [page, expected] of Object.entries(tables)) expect(await html(page), page).to.equal(expected);
  });

  it('reads each cell of a table in its column, whatever cells reach into others', async () => {
    const head = '<tr><th rowspan=2>Place<th colspan="2">Sales<th rowspan=2>Sum</tr><tr><th>2025<th>2026</tr>';
    const body = '<tr><td rowspan="2">North<td>1<td>2<td>3</tr><tr><td>4<td rowspan=0>5<td>9</tr>';
    const foot = '<tr><td colspan=3>All<td>12</tr><tr><td colspan=4>in tons</tr>';
    const high = '<tr><td colspan=2 rowspan=3>a<td rowspan=2 colspan=0>b<td>c</tr><tr><td>d</tr><tr><td>e<td>f</tr>';
    expect(await html(`<table>${high}</table>`)).to.equal('| a |  | b | c |\n|  |  |  | d |\n|  |  | e | f |');
    expect(await html(`<table>${head}${body}${foot}</table>`)).to.equal(
      '| Place | Sales |  | Sum |\n|  | 2025 | 2026 |\n| North | 1 | 2 | 3 |\n|  | 4 | 5 | 9 |\n| All |  |  | 12 |\n| in tons |',
    );
    const wide = '<tr><td colspan=1000000000>a<td rowspan=1000000000>b</tr>'.repeat(5_000);
    expect((await read(`<table>${wide}</table>`, 'text/html', { maxTextCharacters })).truncated).to.equal(true);
  });

  it('reads formulas as one would type them', async () => {
    const half = '<mfrac><mn>1</mn><mn>2</mn></mfrac>';
    const power = '<msup><mrow><mi>b</mi></mrow><mn>2</mn></msup>';
    const root = `<msqrt>${power}<mo>−</mo><mn>4</mn><mo>&InvisibleTimes;</mo><mi>c</mi></msqrt>`;
    const typed = '<annotation encoding="application/x-tex">\\frac</annotation>';
    const formulas = `<math><semantics><mrow><mn>2</mn>${half}</mrow>${typed}</semantics></math> <math>${root}</math>`;
    const others = [
      '<mfrac> <mi>a</mi> <mi>b</mi> </mfrac>',
      '<munderover><mo>Σ</mo><mn>1</mn><mi>n</mi></munderover>',
      '<mover><mi>x</mi><mi>s</mi></mover>',
      '<munder><mi>x</mi><mi>t</mi></munder>',
      '<msub><mi>x</mi><mi>i</mi></msub>',
      '<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>',
      '<mroot><mi>x</mi><mn>3</mn></mroot>',
      '<mrow> <mi>p</mi> <mo>+</mo> <constructor>k</constructor> </mrow><annotation-xml>no</annotation-xml>',
    ];
    others.push(
      '<mn>5</mn><mtext>&nbsp;kg if </mtext><mi>sin</mi><mo>&#x2061;</mo><mi>x</mi>',
      '<mi>f</mi><mfenced><mi>x</mi> <mi>y</mi></mfenced>',
    );
    const inOne = others.map((formula) => `<math>${formula}</math>`).join(' ');
    expect(await html(`<p>${inOne}`)).to.equal('a/b Σ_1^n x^s x_t x_i x_i^2 ∛x p+k 5\u00a0kg if sin x f(x,y)');
    const table = '<math><mtable><mtr><mtd><mi>p</mi></mtd><mtd><mi>q</mi></mtd></mtr><mtr><mtd><mi>r</mi></mtd></mtr></mtable></math>';
    expect(await html(`<p>Let ${formulas} be ${table}.</p>`)).to.equal('Let 2 1/2 √(b^2−4c) be p q; r.');
  });

  it('reads a table of very many rows, whatever stands around them', async () => {
    const rows = '<tr><td>1</td><td>2</td></tr>'.repeat(50_000);
    for (const page of [`<tbody>${rows}</tbody>`, rows]) {
      const { text, truncated } = await read(`<body><table>${page}</table>`, 'text/html', { maxTextCharacters });
      expect(truncated).to.equal(true);
      expect(text.slice(0, 19)).to.equal('| 1 | 2 |\n| 1 | 2 |');
    }
  });

  it('reads the cells of a table that only places things, and leaves out menus and what is not shown', async () => {
    const page = `<body><nav><a href="/">Home</a></nav><div role="search">Find</div><p hidden>Secret</p>
<table><tr><td><p>Left</p></td><td><table><tr><th>a</th><th>b|c</th></tr><tr><td></td></tr><tr><td>1<br>2</td><td>3</td></tr></table></td></tr></table></body>`;
    expect(await html(page)).to.equal('Left\n\n| a | b\\|c |\n| 1 2 | 3 |');
  });

  it('reads the whole of a page that names no body', async () => {
    const page = '<!doctype html><title>Ferries</title><h1>Fares</h1><p>Adults pay nine.';
    expect(await html(page)).to.equal('Ferries\n\nFares\n\nAdults pay nine.');
  });

  it('finds the charset of HTML in its header, then in its meta element or its first line', async () => {
    const page = (meta: string) => Buffer.from(`<html><head>${meta}</head><body><p>caf\xe9 \x80</p></body></html>`, 'latin1');
    const httpEquiv = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">';
    for (const meta of ['<meta charset="iso-8859-1">', httpEquiv]) expect(await textOf(page(meta), 'text/html')).to.equal('café €');
    expect(await textOf(page('<meta charset=utf-8>'), 'text/html', { charset: 'windows-1252' })).to.equal('café €');
    const declared = Buffer.from('<?xml version="1.0" encoding="iso-8859-2"?><html><body>k\xf9\xf2</body></html>', 'latin1');
    expect(await textOf(declared, 'text/html')).to.equal('kůň');
    expect(await html('<meta charset=utf-16><p>ü')).to.equal('ü');
  });

  it('reads HTML that is nested without end', async () => {
    const page = `<h1>Top</h1>${'<div><b>'.repeat(100_000)}deep &amp; down<p>last`;
    expect(await html(page)).to.equal('Top\ndeep & down\nlast');
  });
});
