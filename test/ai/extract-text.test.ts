import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type AiService, refusalOf, startAiService } from './support/ai-service.ts';

describe('text documents at /v1/extract', () => {
  let service: AiService;
  before(async () => {
    service = await startAiService();
  });
  after(() => service.stop());

  const read = async (body: Uint8Array | string, contentType = 'text/plain') => {
    const response = await service.extract(body, contentType);
    expect(response.status, await response.clone().text()).to.equal(200);
    return (await response.json()) as { text: string; characters: number; pages: number | null; truncated: boolean; content_type: string };
  };
  const utf16 = (text: string, ...bom: number[]) => Buffer.concat([Buffer.from(bom), Buffer.from(text, 'utf16le')]);

  it('answers text, count, pages, truncation and type', async () => {
    expect(await read('Grüße, 世界 🌊', 'text/plain; charset=utf-8')).to.deep.equal({
      text: 'Grüße, 世界 🌊',
      characters: 11,
      pages: null,
      truncated: false,
      content_type: 'text/plain',
    });
  });

  it('reads Markdown, CSV and JSON as they are written', async () => {
    expect((await read('# Title\n\n*text*', 'text/markdown')).text).to.equal('# Title\n\n*text*');
    expect((await read('a,b\n1,2\n', 'text/csv')).text).to.equal('a,b\n1,2\n');
    expect((await read('{"a": [1, 2]}', 'application/json')).text).to.equal('{"a": [1, 2]}');
    expect((await read('{"broken": ', 'application/json')).text).to.equal('{"broken": ');
    expect((await read('X', 'Text/X-Markdown')).content_type).to.equal('text/markdown');
  });

  it('lets a byte order mark win over the declared charset, and drops it', async () => {
    expect((await read(Buffer.from('\ufeffnaïve'), 'text/plain; charset=iso-8859-1')).text).to.equal('naïve');
    expect((await read(utf16('naïve', 0xff, 0xfe))).text).to.equal('naïve');
    expect((await read(utf16('naïve', 0xff, 0xfe).swap16())).text).to.equal('naïve');
  });

  it('uses the declared charset, whatever its case, and ignores one that does not exist', async () => {
    expect((await read(Buffer.from([0x80, 0x20, 0xe9]), 'text/plain; charset="Windows-1252"')).text).to.equal('€ é');
    expect((await read(Buffer.from([0x93, 0xfa, 0x96, 0x7b]), 'text/csv; charset=Shift_JIS')).text).to.equal('日本');
    expect((await read(utf16('abc'), 'text/plain; charset=utf-16le')).text).to.equal('abc');
    expect((await read(Buffer.from('é'), 'text/plain; charset=no-such-charset')).text).to.equal('é');
  });

  it('guesses an undeclared charset from the bytes', async () => {
    expect((await read(Buffer.from('Straße und Café', 'latin1'))).text).to.equal('Straße und Café');
    expect((await read(utf16('plain words in two bytes each'))).text).to.equal('plain words in two bytes each');
    expect((await read(utf16('plain words').swap16())).text).to.equal('plain words');
    const mostlyUtf8 = Buffer.concat([Buffer.from('größer, höher, weiter, schöner, früher '), Buffer.from([0xff])]);
    expect((await read(mostlyUtf8)).text).to.equal('größer, höher, weiter, schöner, früher \ufffd');
  });

  it('survives any bytes and answers only what a database stores', async () => {
    const any = Array.from({ length: 4096 }, (_, index) => (index * 7 + (index >> 8)) % 256);
    // A zero byte among the first of these would tell that it is no text.
    const everything = Buffer.concat([Buffer.from('x'.repeat(1024)), Buffer.from(any)]);
    for (const charset of ['', '; charset=utf-8', '; charset=utf-16le', '; charset=windows-1252']) {
      const { text, characters } = await read(everything, `text/plain${charset}`);
      expect(text).to.equal(text.toWellFormed());
      expect(text).to.not.match(/[^\P{Cc}\t\n]/u);
      expect(characters).to.equal([...text].length);
    }
  });

  it('refuses for good, in clear words, what is beyond doubt of another kind', async () => {
    const refused: [string | Buffer, string, string][] = [
      ['%PDF-1.7\n1 0 obj', 'text/plain', 'a PDF'],
      [readFileSync('docs/examples/samples/trail-notice.png'), 'application/pdf', 'a PNG image'],
      [Buffer.from('a,b\n1,\0\n\xff\xfe\xfd', 'latin1'), 'text/csv', 'a binary file'],
    ];
    for (const [body, contentType, kind] of refused) {
      const response = await service.extract(body as never, contentType);
      expect(response.status, kind).to.equal(422);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect(error).to.include({ code: 'unreadable_document', message: `The file is ${kind}, but was declared as ${contentType}.` });
    }
    const wrapped = { file: { content_type: 'application/pdf', data_base64: Buffer.from('{\\rtf1').toString('base64') } };
    expect(await refusalOf(await service.extract(JSON.stringify(wrapped), 'application/json'))).to.deep.equal([422, 'unreadable_document']);
  });

  it('removes NUL and other control characters and evens line ends', async () => {
    expect((await read('a\0b\x1b[31m\tc\r\nd\re\u2028f\fg\x7f\ufeff')).text).to.equal('ab\tc\nd\ne\nf\n\ng');
    // A high surrogate alone, between two letters.
    expect((await read(Buffer.from([0x61, 0, 0x3d, 0xd8, 0x62, 0]), 'text/plain; charset=utf-16le')).text).to.match(/^a\ufffd?b$/);
  });

  it('removes what only says where a line may end, so that words are whole', async () => {
    const html = '<p>Donau&shy;dampf&shy;schiff, inter&ZeroWidthSpace;national, 20&NoBreak;km</p><h2>Do&shy;nau</h2>';
    const { text, outline } = await service.client.extract({ body: Buffer.from(html), contentType: 'text/html' });
    expect(text).to.equal('Donaudampfschiff, international, 20km\n\nDonau');
    expect(outline.headings).to.deep.equal([{ level: 2, start: 39, title: 'Donau' }]);
    // Joiners of letters, and the ends of words in Khmer, also behind a sign above a letter.
    for (const kept of ['می\u200cخواهم', 'क्\u200dष', 'ភាសា\u200bខ្មែរ', 'ទី\u200bក្រុង']) expect((await read(kept)).text).to.equal(kept);
  });

  it('cuts at the limit of characters without splitting a pair', async () => {
    const exact = await read('x'.repeat(200_000));
    expect([exact.characters, exact.truncated]).to.deep.equal([200_000, false]);
    const over = await read('x'.repeat(200_001));
    expect([over.characters, over.truncated]).to.deep.equal([200_000, true]);
    const pair = await read(`${'x'.repeat(199_999)}🌊🌊`);
    expect([pair.characters, pair.truncated]).to.deep.equal([200_000, true]);
    expect(pair.text.endsWith('x🌊')).to.equal(true);
  });

  it('reads the text of HTML without scripts, styles and addresses', async () => {
    const { text } = await read(readFileSync('docs/examples/samples/ferry-timetable.html'), 'text/html');
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
    for (const [html, expected] of Object.entries(tables)) expect((await read(html, 'text/html')).text, html).to.equal(expected);
  });

  it('reads each cell of a table in its column, whatever cells reach into others', async () => {
    const head = '<tr><th rowspan=2>Place<th colspan="2">Sales<th rowspan=2>Sum</tr><tr><th>2025<th>2026</tr>';
    const body = '<tr><td rowspan="2">North<td>1<td>2<td>3</tr><tr><td>4<td rowspan=0>5<td>9</tr>';
    const foot = '<tr><td colspan=3>All<td>12</tr><tr><td colspan=4>in tons</tr>';
    const { text } = await read(`<table>${head}${body}${foot}</table>`, 'text/html');
    const high = '<tr><td colspan=2 rowspan=3>a<td rowspan=2 colspan=0>b<td>c</tr><tr><td>d</tr><tr><td>e<td>f</tr>';
    expect((await read(`<table>${high}</table>`, 'text/html')).text).to.equal('| a |  | b | c |\n|  |  |  | d |\n|  |  | e | f |');
    expect(text).to.equal(
      '| Place | Sales |  | Sum |\n|  | 2025 | 2026 |\n| North | 1 | 2 | 3 |\n|  | 4 | 5 | 9 |\n| All |  |  | 12 |\n| in tons |',
    );
    const wide = '<tr><td colspan=1000000000>a<td rowspan=1000000000>b</tr>'.repeat(50_000);
    expect((await read(`<table>${wide}</table>`, 'text/html')).truncated).to.equal(true);
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
    expect((await read(`<p>${inOne}`, 'text/html')).text).to.equal('a/b Σ_1^n x^s x_t x_i x_i^2 ∛x p+k 5\u00a0kg if sin x f(x,y)');
    const table = '<math><mtable><mtr><mtd><mi>p</mi></mtd><mtd><mi>q</mi></mtd></mtr><mtr><mtd><mi>r</mi></mtd></mtr></mtable></math>';
    expect((await read(`<p>Let ${formulas} be ${table}.</p>`, 'text/html')).text).to.equal('Let 2 1/2 √(b^2−4c) be p q; r.');
  });

  it('reads a table of very many rows, whatever stands around them', async () => {
    const rows = '<tr><td>1</td><td>2</td></tr>'.repeat(150_000);
    for (const page of [`<tbody>${rows}</tbody>`, rows]) {
      const { text, truncated } = await read(`<body><table>${page}</table>`, 'text/html');
      expect(truncated).to.equal(true);
      expect(text.slice(0, 19)).to.equal('| 1 | 2 |\n| 1 | 2 |');
    }
  });

  it('reads the cells of a table that only places things, and leaves out menus and what is not shown', async () => {
    const page = `<body><nav><a href="/">Home</a></nav><div role="search">Find</div><p hidden>Secret</p>
<table><tr><td><p>Left</p></td><td><table><tr><th>a</th><th>b|c</th></tr><tr><td></td></tr><tr><td>1<br>2</td><td>3</td></tr></table></td></tr></table></body>`;
    expect((await read(page, 'text/html')).text).to.equal('Left\n\n| a | b\\|c |\n| 1 2 | 3 |');
  });

  it('reads the whole of a page that names no body', async () => {
    const { text } = await read('<!doctype html><title>Ferries</title><h1>Fares</h1><p>Adults pay nine.', 'text/html');
    expect(text).to.equal('Ferries\n\nFares\n\nAdults pay nine.');
  });

  it('finds the charset of HTML in its header, then in its meta element or its first line', async () => {
    const page = (meta: string) => Buffer.from(`<html><head>${meta}</head><body><p>caf\xe9 \x80</p></body></html>`, 'latin1');
    expect((await read(page('<meta charset="iso-8859-1">'), 'text/html')).text).to.equal('café €');
    const httpEquiv = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">';
    expect((await read(page(httpEquiv), 'text/html')).text).to.equal('café €');
    expect((await read(page('<meta charset=utf-8>'), 'text/html; charset=windows-1252')).text).to.equal('café €');
    const declared = Buffer.from('<?xml version="1.0" encoding="iso-8859-2"?><html><body>k\xf9\xf2</body></html>', 'latin1');
    expect((await read(declared, 'text/html')).text).to.equal('kůň');
    expect((await read('<meta charset=utf-16><p>ü', 'text/html')).text).to.equal('ü');
  });

  it('reads HTML that is nested without end', async () => {
    const { text } = await read(`<h1>Top</h1>${'<div><b>'.repeat(100_000)}deep &amp; down<p>last`, 'text/html');
    expect(text).to.equal('Top\ndeep & down\nlast');
  });

  it('unwraps the base64 form, and takes other JSON as the document', async () => {
    const wrap = (file: unknown) => JSON.stringify({ file });
    const data_base64 = Buffer.from('wräpped').toString('base64');
    const file = { name: 'a.txt', content_type: 'text/plain; charset=utf-8', data_base64 };
    expect(await read(wrap(file), 'application/json')).to.include({ text: 'wräpped', content_type: 'text/plain' });
    const other = '{"file": {"name": "no data"}}';
    expect(await read(other, 'application/json; charset=utf-8')).to.include({ text: other, content_type: 'application/json' });
    for (const [body, refusal] of [
      [wrap({ ...file, data_base64: 7 }), [422, 'invalid_request']],
      [wrap({ ...file, content_type: undefined }), [422, 'invalid_request']],
      [wrap({ ...file, data_base64: 'n%t base64' }), [400, 'invalid_base64']],
      [wrap({ ...file, content_type: 'nonsense' }), [415, 'unsupported_type']],
      [wrap({ ...file, data_base64: '' }), [422, 'empty_document']],
      [wrap(file).slice(0, -4), [400, 'malformed_json']],
    ] as const) {
      expect(await refusalOf(await service.extract(body, 'application/json')), body).to.deep.equal(refusal);
    }
  });

  it('refuses other types, no type and nothing at all', async () => {
    for (const type of ['application/zip', 'application/octet-stream', 'text/rtf', 'constructor/x', 'nonsense', '']) {
      expect(await refusalOf(await service.extract(Buffer.from('x'), type)), type).to.deep.equal([415, 'unsupported_type']);
    }
    expect(await refusalOf(await service.extract(Buffer.alloc(0), 'text/plain'))).to.deep.equal([422, 'empty_document']);
  });
});
