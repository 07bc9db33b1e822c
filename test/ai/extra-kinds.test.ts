import { expect } from 'chai';
import { TextBuilder } from '../../ai/formats/office/text-builder.ts';
import { extraKinds as types } from '../../contract/content-types.ts';
import {
  makeDocx,
  makeEpub,
  makeNetDocx,
  makeNetPptx,
  makeNetXlsx,
  makeOdt,
  makePptx,
  makeXlsx,
  wordParagraph,
} from './support/make-office.ts';
import { read, refusal, textOf } from './support/read.ts';

const bounds = { maxTextCharacters: 5_000, maxPdfPages: 3 };

describe('Kinds of EXTRA_CONTENT_TYPES', () => {
  it('are read from Word: paragraphs, tables as rows, notes; no headers, nothing deleted, nothing twice', async () => {
    const cell = (xml: string) => `<w:tc>${xml}</w:tc>`;
    const inner = `<w:tbl><w:tr>${cell(wordParagraph('deep'))}${cell(wordParagraph('er'))}</w:tr></w:tbl>`;
    const body = [
      wordParagraph('The lease &amp; its terms'),
      '<w:p><w:r><w:t>Two</w:t><w:tab/><w:t>words</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>',
      '<mc:AlternateContent><mc:Choice><w:p><w:r><w:t>Once</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>Once</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>',
      `<w:tbl><w:tr>${cell(wordParagraph('Month'))}${cell(wordParagraph('Rent'))}</w:tr><w:tr>${cell(wordParagraph('March') + wordParagraph('2026'))}${cell(inner)}</w:tr></w:tbl>`,
    ];
    expect(await read(makeDocx(body.join('')), types.docx)).to.include({
      text: 'The lease & its terms\n\nTwo\twords\n\nOnce\n\n| Month | Rent |\n| March 2026 | deep er |\n\nA footnote.',
      pages: null,
      truncated: false,
      content_type: types.docx,
    });
  });

  it('are read from Word: moved text once, equations, and words without what was deleted in them or how they are read', async () => {
    const run = (xml: string) => `<w:r>${xml}</w:r>`;
    const moved = (tag: string) => `<w:p><w:pPr><w:rPr><w:${tag}/></w:rPr></w:pPr><w:${tag}>${run('<w:t>Moved.</w:t>')}</w:${tag}></w:p>`;
    const ruby = (base: string, reading: string) =>
      run(`<w:ruby><w:rt>${run(`<w:t>${reading}</w:t>`)}</w:rt><w:rubyBase>${run(`<w:t>${base}</w:t>`)}</w:rubyBase></w:ruby>`);
    const body = [
      moved('moveFrom'),
      wordParagraph('Between.'),
      moved('moveTo'),
      `<w:p>${ruby('望', 'ぼう')}${ruby('遠', 'えん')}${ruby('鏡', 'きょう')}</w:p>`,
      `<w:p>${run('<w:t>fer</w:t>')}<w:del>${run('<w:tab/><w:br/>')}</w:del>${run('<w:t>ry</w:t>')}</w:p>`,
      '<w:p><m:oMathPara><m:oMath><m:r><m:t>E=m</m:t></m:r><m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></m:oMathPara></w:p>',
    ];
    expect(await textOf(makeDocx(body.join('')), types.docx)).to.equal('Between.\n\nMoved.\n\n望遠鏡\n\nferry\n\nE=mc^2\n\nA footnote.');
  });

  it('are read from Word without the codes of fields, though these hold results of other fields', async () => {
    const field = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;
    const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
    const inner = `${field('begin')}<w:r><w:instrText>MERGEFIELD sex</w:instrText></w:r>${field('separate')}${run('female')}${field('end')}`;
    const letter = `<w:p>${run('Dear ')}${field('begin')}${inner}${field('separate')}${run('Ms')}${field('end')}${run(' Ash,')}</w:p>`;
    const endless = `<w:p>${run('One')}${field('begin')}</w:p><w:p>${run('Two')}</w:p>`;
    const { text } = await read(makeDocx(letter + endless), types.docx);
    expect(text).to.equal('Dear Ms Ash,\n\nOne\n\nTwo\n\nA footnote.');
  });

  it('are read from Word and OpenDocument with each cell in its column, whatever cells reach into others', async () => {
    const cell = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${wordParagraph(text)}</w:tc>`;
    const row = (cells: string, properties = '') => `<w:tr><w:trPr>${properties}</w:trPr>${cells}</w:tr>`;
    const wide = '<w:gridSpan w:val="2"/>';
    const inner = `<w:tbl>${row(cell('Rent', '<w:gridSpan w:val="3"/>') + cell('due'))}</w:tbl>`;
    const word = [
      row(cell('Place', '<w:tcPrChange><w:tcPr><w:gridSpan w:val="3"/></w:tcPr></w:tcPrChange>') + cell('Sales', wide) + cell('Sum')),
      row(cell('in tons', '<w:gridSpan w:val="4"/>')),
      row(cell('2025') + cell('2026'), '<w:gridBefore w:val="1"/>'),
      row(`<w:tc><w:tcPr>${wide}</w:tcPr>${inner}<w:p/></w:tc>${cell('9')}`),
      row(cell('All', '<w:gridSpan w:val="1000000000"/>') + cell('far')),
    ];
    const rows = '| Place | Sales |  | Sum |\n| in tons |\n|  | 2025 | 2026 |';
    const inWord = await read(makeDocx(`<w:tbl>${word.join('')}</w:tbl>`), types.docx);
    expect(inWord.text).to.equal(`${rows}\n| Rent due |  | 9 |\n| All |${'  |'.repeat(62)} far |\n\nA footnote.`);
    const odtCell = (text: string) =>
      text ? `<table:table-cell><text:p>${text}</text:p></table:table-cell>` : '<table:covered-table-cell/>';
    const odtRow = (...cells: string[]) => `<table:table-row>${cells.map(odtCell).join('')}</table:table-row>`;
    const odt = odtRow('Place', 'Sales', '', 'Sum') + odtRow('in tons', '', '', '') + odtRow('', '2025', '2026');
    expect(await textOf(makeOdt(`<table:table>${odt}</table:table>`), types.odt)).to.equal(rows);
  });

  it('are read from PowerPoint with equations, once', async () => {
    const paragraph = (xml: string) => `<p:sp><p:txBody><a:p>${xml}</a:p></p:txBody></p:sp>`;
    const choice = `<mc:Choice>${paragraph('<a:r><a:t>Area </a:t></a:r><a14:m><m:oMath><m:f><m:num><m:r><m:t>πd</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath></a14:m>')}</mc:Choice>`;
    const fallback = `<mc:Fallback>${paragraph('<a:r><a:t>Area</a:t></a:r>')}</mc:Fallback>`;
    const deck = makePptx([`<mc:AlternateContent>${choice}${fallback}</mc:AlternateContent>${paragraph('<a:r><a:t>End</a:t></a:r>')}`]);
    expect(await textOf(deck, types.pptx)).to.equal('Area πd/2\n\nEnd');
  });

  it('are read from PowerPoint, slide by slide in the order they are shown', async () => {
    const paragraph = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`;
    const table = `<a:tbl><a:tr><a:tc>${paragraph('a')}</a:tc><a:tc>${paragraph('b|c')}</a:tc></a:tr></a:tbl>`;
    const deck = makePptx([paragraph('Welcome') + paragraph('to the ridge'), table, paragraph('The end')]);
    expect(await read(deck, types.pptx)).to.include({ text: 'Welcome\n\nto the ridge\n\n| a | b\\|c |\n\nThe end', pages: 3 });
    const { text, outline } = await read(makePptx([paragraph('Welcome'), '', `${paragraph('Two')}${paragraph('parts')}`]), types.pptx);
    expect(text).to.equal('Welcome\n\nTwo\n\nparts');
    expect(outline.page_starts).to.deep.equal([0, 7, 9]);
    const { truncated, outline: cut } = await read(makePptx([paragraph('word '.repeat(4_000)), paragraph('Two')]), types.pptx, bounds);
    expect({ truncated, starts: cut.page_starts }).to.deep.equal({ truncated: true, starts: [0] });
    expect(await refusal(makePptx(['', '', '', '']), types.pptx, bounds)).to.deep.equal([413, 'too_many_pages']);
  });

  it('are read from PowerPoint without what stands on every slide: date, footer and number', async () => {
    const shape = (type: string, text: string) =>
      `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:fld><a:t>${text}</a:t></a:fld></a:p></p:txBody></p:sp>`;
    const slide = [
      shape('dt', 'May 3'),
      shape('body', 'The lamp'),
      shape('ftr', 'Confidential'),
      shape('sldNum', '7'),
      shape('body', 'is lit'),
    ];
    expect(await textOf(makePptx([slide.join('')]), types.pptx)).to.equal('The lamp\n\nis lit');
  });

  it('are read from Excel: names of sheets, rows, results of formulas, days', async () => {
    const rows = [
      '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="inlineStr"><is><t>Since</t></is></c></row>',
      '<row><c t="str"><f>A1</f><v>Mirror</v></c><c><v>12.5</v></c><c s="1"><v>46082</v></c></row>',
      '<row><c/></row>',
    ];
    const { text } = await read(makeXlsx(rows.join(''), ['Part', 'Price']), types.xlsx);
    expect(text).to.equal('Prices\n\n| Part | Price | Since |\n| Mirror | 12.5 | 2026-03-01 |');
  });

  it('are read from Excel with numbers, truth and signs as it shows them', async () => {
    const cells = [
      ...['1.1000000000000001', '0.30000000000000004', '1234567890123456', '1E-3'].map((value) => `<c><v>${value}</v></c>`),
      ...['<c t="b"><v>1</v></c>', '<c t="b"><v>0</v></c>', '<c t="s"><v>0</v></c>', '<c t="str"><v>_x005F_x000D_</v></c>'],
    ];
    const { text } = await read(makeXlsx(`<row>${cells.join('')}</row>`, ['a_x000D_\nb']), types.xlsx);
    expect(text).to.equal('Prices\n\n| 1.1 | 0.3 | 1234567890123456 | 0.001 | TRUE | FALSE | a b | _x000D_ |');
  });

  it('are read without what is formatted as hidden, from Word, OpenDocument and mails, nor what a picture is called', async () => {
    const run = (format: string, text: string) => `<w:r><w:rPr>${format}</w:rPr><w:t>${text}</w:t></w:r>`;
    const change = '<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>';
    const word = `<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>${run('', 'a')}${run('<w:vanish/>', 'X')}${run('<w:vanish w:val="0"/>', 'b')}${run(change, 'c')}</w:p>`;
    expect(await textOf(makeDocx(word), types.docx)).to.equal('abc\n\nA footnote.');
    const hides = (family: string, name: string) =>
      `<style:style style:family="${family}" style:name="${name}"><style:text-properties text:display="none"/></style:style>`;
    const style = hides('text', 'T1') + hides('paragraph', 'P1') + hides('paragraph', 'T2');
    const span = (name: string, text: string) => `<text:span text:style-name="${name}">${text}</text:span>`;
    const picture = '<draw:frame><draw:image/><svg:title>X</svg:title><svg:desc>X</svg:desc></draw:frame>';
    const paragraph = `<text:p text:style-name="P1">X</text:p><text:p>a${span('T1', `X${span('T2', 'X')}X`)}${span('T2', 'b')}${picture}c</text:p>`;
    expect(await textOf(makeOdt(paragraph, '', style), types.odt)).to.equal('abc');
    const mail =
      'From: a@example.com\nContent-Type: text/html\n\n<div style="Display: none">X</div><p>a<i style="color:red;display:none">X</i>b';
    expect(await textOf(Buffer.from(mail), types.eml)).to.equal('From: a@example.com\n\nab');
  });

  it('are read from Excel with days in East Asian formats, and without the readings of words', async () => {
    const formats = [27, 31, 36, 50, 56, 58, 32, 35, 30].map((format) => `<xf numFmtId="${format}"/>`).join('');
    const custom = '<numFmts><numFmt numFmtId="30" formatCode="0.0"/></numFmts>';
    const cells = Array.from({ length: 9 }, (_, style) => `<c s="${style}"><v>${style === 7 ? 0.25 : 46082}</v></c>`).join('');
    const word = '<row><c t="inlineStr"><is><r><t>望遠鏡</t></r><rPh><t>ボウエンキョウ</t></rPh></is></c></row>';
    const workbook = makeXlsx(`<row>${cells}</row>${word}`, [], '', `${custom}<cellXfs>${formats}</cellXfs>`);
    const days = Array(6).fill('2026-03-01').join(' | ');
    expect(await textOf(workbook, types.xlsx)).to.equal(`Prices\n\n| ${days} | 0:00:00 | 06:00:00 | 46082.0 |\n| 望遠鏡 |`);
  });

  it('are read whatever prefixes the program that wrote them has chosen', async () => {
    const declared = (prefix: string, schema: string) => `xmlns${prefix && `:${prefix}`}="http://schemas.openxmlformats.org/${schema}"`;
    const word = 'wordprocessingml/2006/main';
    const heading = '<ns0:p><ns0:pPr><ns0:pStyle ns0:val="Heading2"/></ns0:pPr><ns0:r><ns0:t>Lease</ns0:t></ns0:r></ns0:p>';
    const body = [
      `<x ${declared('ns0', word)}>${heading}<y ${declared('ns0', 'other')}><ns0:t>no</ns0:t></y><ns0:p><ns0:r><ns0:t>Rent</ns0:t></ns0:r></ns0:p></x>`,
      `<p ${declared('', word)}><r><t>Due</t></r></p><p><r><t>no</t></r></p>`,
      `<v:p xmlns:v="http://purl.oclc.org/ooxml/wordprocessingml/main"><v:r><v:t>Strict</v:t></v:r></v:p>`,
    ];
    const { text, outline } = await read(makeDocx(body.join('')), types.docx);
    expect(text).to.equal('Lease\n\nRent\n\nDue\n\nStrict\n\nA footnote.');
    expect(outline.headings).to.deep.equal([{ level: 2, start: 0, title: 'Lease' }]);
    const slide = `<d:p ${declared('d', 'drawingml/2006/main')}><d:r><d:t>Welcome</d:t></d:r></d:p>`;
    expect(await textOf(makePptx([slide]), types.pptx)).to.equal('Welcome');
  });

  it('are read from Excel with each cell in its column, though empty ones are left out', async () => {
    const rows = [
      '<row r="1"><c r="A1" t="str"><v>Part</v></c><c r="B1" t="str"><v>Colour</v></c><c r="D1" t="str"><v>Price</v></c></row>',
      '<row r="2"><c r="A2" t="str"><v>Mirror</v></c><c r="D2"><v>12.5</v></c></row>',
      '<row r="3"><c r="AA3"><v>1</v></c><c><v>2</v></c><c r="B3"><v>3</v></c><c r="ZZZ3"><v>4</v></c></row>',
    ];
    const { text } = await read(makeXlsx(rows.join('')), types.xlsx);
    expect(text.split('\n').slice(2)).to.deep.equal([
      '| Part | Colour |  | Price |',
      '| Mirror |  |  | 12.5 |',
      `|${'  |'.repeat(26)} 1 | 2 | 3 | 4 |`,
    ]);
  });

  it('are read with powers and marks of notes apart from the number before', async () => {
    const run = (format: string, text: string) => `<w:r><w:rPr>${format}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
    const up = '<w:vertAlign w:val="superscript"/>';
    const word = `<w:p>${run('', '10')}${run(up, '1')}${run(up, '2')}${run('', ' m')}${run(up, '2')}${run('', ' in 2019')}${run(up, '7')}${run('', ' 10')}${run(up.replace('super', 'sub'), '2')}${run(`<w:rPrChange><w:rPr>${up}</w:rPr></w:rPrChange>`, '3')}</w:p>`;
    expect(await textOf(makeDocx(word), types.docx)).to.equal('10^12 m2 in 2019^7 1023\n\nA footnote.');
    const onSlide = (baseline: string, text: string) => `<a:r><a:rPr baseline="${baseline}"/><a:t>${text}</a:t></a:r>`;
    const slide = `<p:sp><p:txBody><a:p>${onSlide('0', '10')}${onSlide('30000', '-6')}${onSlide('0', ' kg CO')}${onSlide('-25000', '2')}${onSlide('30000', '7')}<a:r><a:t> of 9</a:t></a:r>${onSlide('30000', '8')}</a:p></p:txBody></p:sp>`;
    expect(await textOf(makePptx([slide]), types.pptx)).to.equal('10^-6 kg CO2^7 of 9^8');
    const style = (name: string, place: string) =>
      `<style:style style:family="text" style:name="${name}"><style:text-properties style:text-position="${place} 58%"/></style:style>`;
    const span = (name: string, text: string) => `<text:span text:style-name="${name}">${text}</text:span>`;
    const styles = style('T1', 'super') + style('T2', '33%') + style('T3', 'super') + style('T3', 'sub');
    const odt = makeOdt(`<text:p>10${span('T1', '6')} tons, 10${span('T2', '7')}, 10${span('T3', '2')}</text:p>`, '', styles);
    expect(await textOf(odt, types.odt)).to.equal('10^6 tons, 10^7, 102');
    const shared = [
      '10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>1&#50;</t></r><r><t>3 of 10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>2</t></r><r><rPr><vertAlign val="subscript"/></rPr><t>5',
    ];
    const sheet = makeXlsx('<row><c t="s"><v>0</v></c></row>', shared);
    expect(await textOf(sheet, types.xlsx)).to.equal('Prices\n\n| 10^123 of 10^25 |');
    const rtf = String.raw`{\rtf1 10{\super 1}{\super 2} tons, 2019\super 7\nosupersub 1\super 2\super0 3\super 4\sub 5\super 6\plain 7\super 8\plain\par In 9{\footnote {\super 1} Once.}.}`;
    expect(await textOf(Buffer.from(rtf), types.rtf)).to.equal('10^12 tons, 2019^71^23^45^67^8\n\nIn 9.\n\n1 Once.');
    const page =
      '<p>10<sup>6</sup> m<sup>2</sup> in 2019<a href="#1"><sup>7</sup></a>, 1<sup>st</sup>, <b>3</b><sup>8</sup>, 9<p><sup>1</sup> Once.';
    expect(await textOf(Buffer.from(page), 'text/html')).to.equal('10^6 m2 in 2019^7, 1st, 3^8, 9\n\n1 Once.');
  });

  it('are read from PowerPoint without the shapes that are hidden', async () => {
    const shown = (text: string, hidden = '') =>
      `<p:sp><p:nvSpPr><p:cNvPr id="1" ${hidden}/></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
    const group = `<p:grpSp><p:nvGrpSpPr><p:cNvPr id="2" hidden="1"/></p:nvGrpSpPr>${shown('X', 'hidden="1"')}${shown('X')}</p:grpSp>`;
    const noShapes = ['pic', 'cxnSp', 'graphicFrame'].map((name) => `<p:${name}><p:cNvPr hidden="1"/></p:${name}>`).join('');
    const other = `<p:grpSp>${noShapes}${shown('b', 'hidden="0"')}</p:grpSp>`;
    const control = shown('control', 'hidden="1"').replace('</p:nvSpPr>', '<a14:compatExt spid="s1"/>$&');
    const slide = `<p:nvGrpSpPr><p:cNvPr hidden="1"/></p:nvGrpSpPr>${shown('a')}${control}${shown('X', 'hidden="true"')}${group}${other}`;
    expect(await textOf(makePptx([slide]), types.pptx)).to.equal('a\n\ncontrol\n\nb');
  });

  it('are read from Excel with days that count from 1904', async () => {
    const day = '<row><c s="1"><v>44620</v></c></row>';
    const { text } = await read(makeXlsx(day, [], '<workbookPr date1904="1"/>'), types.xlsx);
    expect(text).to.equal('Prices\n\n| 2026-03-01 |');
    const { text: usual } = await read(makeXlsx(day, [], '<workbookPr date1904="0"/>'), types.xlsx);
    expect(usual).to.equal('Prices\n\n| 2022-02-28 |');
  });

  it('are read from what .NET writes: types by extension, prefixed elements, parts of other names', async () => {
    const docx = makeNetDocx(wordParagraph('The lease'));
    expect(await textOf(docx, types.docx)).to.equal('The lease\n\nA footnote.');
    const deck = makeNetPptx('<a:p><a:r><a:t>Welcome</a:t></a:r></a:p>');
    expect(await textOf(deck, types.pptx)).to.equal('Welcome');
    const cells = '<x:c t="s"><x:v>0</x:v></x:c><x:c t="inlineStr"><x:is><x:t>two</x:t></x:is></x:c><x:c s="1"><x:v>46082</x:v></x:c>';
    const workbook = makeNetXlsx(`<x:row>${cells}</x:row>`, ['Mirror']);
    expect(await textOf(workbook, types.xlsx)).to.equal('Prices\n\n| Mirror | two | 2026-03-01 |');
    for (const [body, type] of [
      [docx, types.xlsx],
      [deck, types.docx],
      [workbook, types.pptx],
    ] as const)
      expect(await refusal(body, type), type).to.deep.equal([422, 'unreadable_document']);
  });

  it('are read from OpenDocument: headings, lists, tables; no comments, and no readings of words', async () => {
    const body = `<text:h>Title</text:h><text:p>One<text:s text:c="1000000000"/>two<office:annotation><text:p>Hm.</text:p></office:annotation></text:p>
<text:list><text:list-item><text:p>first</text:p></text:list-item></text:list>
<table:table><table:table-row table:number-rows-repeated="1000000000"><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>`;
    expect(await textOf(makeOdt(body), types.odt)).to.equal('Title\n\nOne two\n\nfirst\n\n| a | b |');
    const ruby = (base: string, reading: string) =>
      `<text:ruby><text:ruby-base>${base}</text:ruby-base><text:ruby-text>${reading}</text:ruby-text></text:ruby>`;
    const words = await read(makeOdt(`<text:p>${ruby('望遠', 'ぼうえん')}${ruby('鏡', 'きょう')}</text:p>`), types.odt);
    expect(words.text).to.equal('望遠鏡');
    const locked = '<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>';
    expect(await refusal(makeOdt(body, locked), types.odt)).to.deep.equal([422, 'encrypted_document']);
  });

  it('are read from OpenDocument and Word with notes and boxes of text behind the paragraphs that they stand in', async () => {
    const note =
      '<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>See §4.</text:p></text:note-body></text:note>';
    const cell = (text: string) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`;
    const row = `<table:table-row>${cell('a')}${cell('b')}</table:table-row>`;
    const box = `<draw:frame><draw:text-box><text:p>In a box</text:p><table:table>${row}</table:table></draw:text-box></draw:frame>`;
    const odt = `<text:p>The rent${note} is due${box} in March.</text:p>${box}<table:table><table:table-row>${cell(`x${note} y`)}</table:table-row></table:table>`;
    const boxed = 'In a box\n\n| a | b |';
    expect(await textOf(makeOdt(odt), types.odt)).to.equal(
      `The rent is due in March.\n\nSee §4.\n\n${boxed}\n\n${boxed}\n\n| x y See §4. |`,
    );
    const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
    const shape = `<w:r><w:pict><w:txbxContent>${wordParagraph('In a box')}${wordParagraph('of two')}</w:txbxContent></w:pict></w:r>`;
    const { text } = await read(
      makeDocx(`<w:p>${run('The rent ')}${shape}${run('is due.')}</w:p><w:p>${shape}${run('Signed.')}</w:p>`),
      types.docx,
    );
    expect(text).to.equal('The rent is due.\n\nIn a box\n\nof two\n\nIn a box\n\nof two\n\nSigned.\n\nA footnote.');
  });

  it('are read from EPUB, chapter by chapter', async () => {
    const book = makeEpub(['<h1>One</h1><p>It begins.</p><script>never()</script>', '<p>It ends.</p>']);
    expect(await textOf(book, types.epub)).to.match(/^One\n+It begins\.\n+It ends\.$/);
    const uri = 'OEBPS/text/chapter%201.xhtml';
    const lock = { name: 'META-INF/encryption.xml', content: `<encryption><enc:CipherReference URI="${uri}"/></encryption>` };
    expect(await refusal(makeEpub(['a', 'b'], [lock]), types.epub)).to.deep.equal([422, 'encrypted_document']);
  });

  it('are read from EPUB whatever the names of the chapters, and refused if there is no chapter', async () => {
    const chapters = ['<p>It begins.</p>', '<p>It ends.</p>'];
    for (const ending of ['xml', 'html', 'part'])
      expect(await textOf(makeEpub(chapters, [], { ending }), types.epub), ending).to.equal('It begins.\n\nIt ends.');
    const untyped = makeEpub(chapters, [], { type: 'text/xml' });
    expect(await textOf(untyped, types.epub)).to.equal('It begins.\n\nIt ends.');
    const pictures = makeEpub(chapters, [], { ending: 'svg', type: 'image/svg+xml' });
    expect(await refusal(pictures, types.epub)).to.deep.equal([422, 'unreadable_document']);
    expect(await refusal(makeEpub([]), types.epub)).to.deep.equal([422, 'unreadable_document']);
  });

  it('are read from RTF: paragraphs, letters of every script, rows, headers; no fonts or pictures', async () => {
    const rtf = String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}}{\*\generator Writer;}{\header Page}{\info{\title Hidden}}
\pard Caf\'e9 \u1055?\u1088?\par Second \emdash  line\par\trowd a\cell b\cell\row {\pict\bin4 }}{{}{\field{\*\fldinst HYPERLINK "http://x"}{\fldrslt link}}\par}}`;
    const { text } = await read(Buffer.from(rtf, 'latin1'), types.rtf);
    expect(text).to.equal('Page\n\nCafé Пр\n\nSecond — line\n\n| a | b |\nlink');
  });

  it('are read from RTF with cells on one line, words apart, and notes and boxes of text after their paragraph', async () => {
    const lines = [
      String.raw`{\rtf1\ansi{\header{\shp{\*\shpinst{\shptxt Letterhead\par}}}}{\headerf One goes on.\par}{\headerl\trowd\pard\intbl Tel\cell 5\cell\row}`,
      String.raw`{\footerr IBAN\par\chpgn 7\par}{\*\unknown{\footnote no}}`,
      String.raw`One{\footnote\pard{\super\chftn} A note.\par} goes{\shp{\*\shpinst{\sp{\sn lid}{\sv 7}}{\shptxt A box.\par}}{\shprslt Old}} on.\par`,
      String.raw`two\emspace words\enspace and\qmspace more\column below\par`,
      String.raw`\trowd\cellx9\cellx9\pard\intbl a\par b\cell c\line d\cell\row`,
      String.raw`\trowd\cellx9\pard\intbl\itap2 e\nestcell{\nonesttables\par}f\nestcell\pard\intbl g\cell\row\pard last{\footnote end}\par first{\*\footnote\ftnalt far}{\*\unknown no}\par\header last}`,
    ];
    const { text } = await read(Buffer.from(lines.join('\n'), 'latin1'), types.rtf);
    const rows = '| a b | c d |\n| e f g |\nlast';
    expect(text).to.equal(
      `Letterhead\n\n| Tel | 5 |\n\nOne goes on.\n\nA note.\n\nA box.\n\ntwo words and more\n\nbelow\n\n${rows}\n\nend\n\nfirst\n\nfar\n\nlast\n\nIBAN`,
    );
  });

  it('are read from RTF in the code pages of the document and of its fonts', async () => {
    const readRtf = (rtf: string) => textOf(Buffer.from(rtf, 'latin1'), types.rtf);
    const fonts = String.raw`{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}{\f2\fnil\fcharset128 Gothic;}{\f3\cpg1253 Arial;}}`;
    const documents: [string, string][] = [
      [String.raw`{\rtf1\ansi\ansicpg932 \'96\'5d\'89\'93\'8b\'be\'83\'5c\'83\\\'83]\par}`, '望遠鏡ソソゾ'],
      [String.raw`{\rtf1\ansi\ansicpg936 \'cd\'fb\'d4\'b6\'be\'b5\par}`, '望远镜'],
      [String.raw`{\rtf1\ansi\ansicpg949 \'b0\'c5\'bf\'ef\par}`, '거울'],
      [String.raw`{\rtf1\pc K\'94ln \'e1 \'ab\par}`, 'Köln ß ½'],
      [String.raw`{\rtf1\ansi\ansicpg437 K\'94ln \'9b\par}`, 'Köln ¢'],
      [String.raw`{\rtf1\pca K\'94ln \'9b\par}`, 'Köln ø'],
      [String.raw`{\rtf1\ansi\ansicpg850 \'d5\'be\par}`, 'ı¥'],
      [String.raw`{\rtf1\mac K\'9aln\par}`, 'Köln'],
      [String.raw`{\rtf1\ansi{\fonttbl{\f0\fcharset255 Terminal;}}\f0 K\'94ln\par}`, 'Köln'],
      [String.raw`{\rtf1\ansi\ansicpg950 \'b1\'e6\par}`, '望'],
      [
        String.raw`{\rtf1\ansi\ansicpg1252\deff1${fonts}\'e7{\f0 Caf\'e9 \f1\'e5}\'f0{\f2\'8b\'be}\f3\'e1\plain\'e0\f9 \'e0}`,
        'зCafé ер鏡αаà',
      ],
    ];
    for (const [rtf, text] of documents) expect(await readRtf(rtf), rtf).to.equal(text);
    const hidden = String.raw`{\rtf1 kept {\deleted gone \u1055?}{\v hidden\par{\v0 shown }}\v no\v0 end\deleted no\plain .\{\}}`;
    expect(await readRtf(hidden)).to.equal('kept shown end.{}');
  });

  it('are read from RTF although a word of a group that is not known stands in the midst of another group', async () => {
    for (const [rtf, text] of [
      [String.raw`{\rtf1\ansi\*\panose123 Lease\par of a boathouse}`, 'Lease\n\nof a boathouse'],
      [String.raw`{\rtf1\ansi Lease \*\generator of a boathouse}`, 'Lease of a boathouse'],
      [String.raw`{\rtf1\ansi{\b Lease \*\bkmkstart of}{\*\unknown gone} a{\*\stylesheet gone} boathouse}`, 'Lease of a boathouse'],
    ] as const)
      expect(await textOf(Buffer.from(rtf, 'latin1'), types.rtf), rtf).to.equal(text);
  });

  it('are read from an archive whose comment was cut, or that something follows', async () => {
    const docx = makeDocx(wordParagraph('well'));
    const commented = Buffer.concat([docx, Buffer.from('made by a pro')]);
    commented.writeUInt16LE(40, docx.length - 2);
    for (const bytes of [commented, Buffer.concat([docx, Buffer.from('\r\n')])])
      expect(await textOf(bytes, types.docx)).to.equal('well\n\nA footnote.');
  });

  it('stop at the limit of characters', async () => {
    const long = makeDocx(wordParagraph('word '.repeat(500)).repeat(200));
    expect(await read(long, types.docx, bounds)).to.include({ characters: 5000, truncated: true });
    // A digit in the last column of each row, which would be fifty megabytes of text.
    const wide = Array.from({ length: 1_000 }, (_, row) => `<row r="${row + 1}"><c r="XFD${row + 1}"><v>1</v></c></row>`);
    expect(await read(makeXlsx(wide.join('')), types.xlsx, bounds)).to.include({ characters: 5000, truncated: true });
  });

  it('are read from Excel without the empty cells that no value follows, however far to the right they are', async () => {
    const rows = (cells: string, count: number) => Array.from({ length: count }, () => `<row>${cells}</row>`).join('');
    const [empty, blank] = ['<c r="XFD1" s="1"/>', '<c r="XFD1" t="str"><v> </v></c>'];
    const sheet = `${rows(empty, 6_000)}${rows(blank, 6_000)}${rows(`<c r="B1"><v>1</v></c><c r="D1"><v>2</v></c>${empty}`, 20)}`;
    const { text, truncated } = await read(makeXlsx(sheet), types.xlsx);
    expect(truncated).to.equal(false);
    expect(text).to.equal(['Prices', '', ...Array(20).fill('|  | 1 |  | 2 |')].join('\n'));
  });

  it('are read from OpenDocument with more notes in a paragraph than a call takes arguments', () => {
    const builder = new TextBuilder(200_000);
    builder.add('The rent');
    builder.openAside();
    for (let note = 0; note < 190_000; note++) {
      builder.add('x');
      builder.endParagraph();
    }
    builder.closeAside();
    builder.endParagraph();
    expect(builder.finish().text).to.match(/^The rent\n\nx\n\nx\n/);
  });

  it('are refused with 415 while they are off, as any other type', async () => {
    expect(await refusal(makeDocx(wordParagraph('a')), types.docx, { extraContentTypes: [types.odt] })).to.deep.equal([
      415,
      'unsupported_type',
    ]);
  });
});
