import { expect } from 'chai';
import { extraKinds as types } from '../../contract/content-types.ts';
import { makeDocx, makeEpub, makeOdt, makePptx, makeXlsx, relationsOf, wordParagraph, wordStyles } from './support/make-office.ts';
import { makeZip } from './support/make-zip.ts';
import { read } from './support/read.ts';

const readShown = async (bytes: Uint8Array, mediaType: string) => {
  const { text, notices = [] } = await read(bytes, mediaType);
  return { text, notices: notices.map((notice) => notice.text) };
};

const schema = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const comments = 'The document has comments, which were left out.';

describe('An Office document', () => {
  it('has its parts by their names in any case', async () => {
    const found = makeZip([
      {
        name: '[content_types].XML',
        content: '<Types><Override PartName="/word/Document.xml" ContentType="x/wordprocessingml.document.main+xml"/></Types>',
      },
      {
        name: '_RELS/.rels',
        content: `<Relationships><Relationship Id="r" Type="${schema}/officeDocument" Target="WORD/document.xml"/></Relationships>`,
      },
      { name: 'word/document.XML', content: `<w:document><w:body>${wordParagraph('We offer gravel.')}</w:body></w:document>` },
    ]);
    expect((await readShown(found, types.docx)).text).to.equal('We offer gravel.');
  });

  it('has the signs that a run shows in a font for them', async () => {
    const run = (font: string, text: string) =>
      `<w:r><w:rPr><w:rFonts w:ascii="${font}"/></w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
    const shown = `<w:p>${run('Symbol', '&#xF06D;')}${run('Arial', 'm, angle ')}${run('Symbol', 'a b')}${run('Wingdings', '&#xF0FC;😀')}</w:p>`;
    expect((await readShown(makeDocx(shown), types.docx)).text).to.match(/^\u00b5m, angle α β✓😀/);
  });

  it('has the signs of such a font that a style of Word names, for characters or for paragraphs', async () => {
    const symbol = '<w:rPr><w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/></w:rPr>';
    const style = (type: string, id: string, more: string) => `<w:style w:type="${type}" w:styleId="${id}">${more}</w:style>`;
    const styles = wordStyles(
      style('character', 'Greek', symbol) +
        style('character', 'Based', '<w:basedOn w:val="Greek"/>') +
        style('paragraph', 'Formula', symbol),
    );
    const run = (properties: string, text: string) => `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;
    const arial = '<w:rFonts w:ascii="Arial"/>';
    const runs = [run('<w:rStyle w:val="Based"/>', 'm'), run('', 'm'), run(`<w:rStyle w:val="Greek"/>${arial}`, 'a')].join('');
    const body = `<w:p>${runs}</w:p><w:p><w:pPr><w:pStyle w:val="Formula"/></w:pPr>${run('', 'D')}${run(arial, 'T')}</w:p>`;
    expect((await readShown(makeDocx(body, [styles]), types.docx)).text).to.equal('µma\n\nΔT\n\nA footnote.');
  });

  it('has the signs of such a font in PowerPoint, Excel and OpenDocument', async () => {
    const run = (fonts: string, text: string) => `<a:r><a:rPr>${fonts}</a:rPr><a:t>${text}</a:t></a:r>`;
    const runs = [
      run('<a:latin typeface="Symbol"/>', 'm'),
      run('<a:latin typeface="Arial"/><a:sym typeface="Symbol"/>', 'm &#xF0B0;'),
      run('', 'C'),
    ].join('');
    const slide = makePptx([`<p:sp><p:txBody><a:p>${runs}</a:p></p:txBody></p:sp>`]);
    expect((await readShown(slide, types.pptx)).text).to.equal('µm °C');

    const cell = '</t><r><rPr><rFont val="Symbol"/></rPr><t>D</t></r><r><rPr><rFont val="Arial"/></rPr><t>T';
    expect((await readShown(makeXlsx('<row><c t="s"><v>0</v></c></row>', [cell]), types.xlsx)).text).to.equal('Prices\n\n| ΔT |');

    const face = '<style:font-face style:name="Symbol1" svg:font-family="Symbol"/>';
    const style = (name: string, family: string, font: string) =>
      `<style:style style:family="${family}" style:name="${name}"><style:text-properties style:font-name="${font}"/></style:style>`;
    const named = face + style('T1', 'text', 'Symbol1') + style('T2', 'text', 'Arial') + style('P1', 'paragraph', 'Symbol');
    const span = (name: string, text: string) => `<text:span text:style-name="${name}">${text}</text:span>`;
    const body = `<text:p>${span('T1', '&#xF06D;')}m</text:p><text:p text:style-name="P1">D${span('T2', 'T')} <text:span>a</text:span></text:p>`;
    expect((await readShown(makeOdt(body, '', named), types.odt)).text).to.equal('µm\n\nΔT α');
  });

  it('is without texts that hide themselves', async () => {
    const hidden = (name: string, state: string) => `<text:${name} text:is-hidden="${state}" text:string-value="b">b</text:${name}>`;
    const paragraph = '<text:p>d<text:hidden-paragraph text:is-hidden="true">e</text:hidden-paragraph></text:p>';
    const body = `<text:p>a${hidden('hidden-text', 'true')}c${hidden('hidden-text', 'false')}</text:p>${paragraph}`;
    expect((await readShown(makeOdt(body), types.odt)).text).to.equal('acb\n\nd');
  });
});

describe('What stands beside the text of an Office document', () => {
  const running = (kind: 'hdr' | 'ftr', ...lines: string[]) => `<w:${kind}>${lines.map(wordParagraph).join('')}</w:${kind}>`;
  const letter = (properties = '') =>
    makeDocx(
      `${wordParagraph('We offer gravel.')}<w:sectPr><w:headerReference w:type="default" r:id="h1"/><w:headerReference w:type="first" r:id="h2"/><w:footerReference w:type="default" r:id="f1"/>${properties}</w:sectPr>`,
      [
        relationsOf('word/document.xml', {
          h1: ['header', 'word/header2.xml'],
          h2: ['header', 'word/header3.xml'],
          f1: ['footer', 'word/footer1.xml'],
        }),
        { name: 'word/header2.xml', content: running('hdr', 'Gravel Ltd', 'We offer gravel.') },
        { name: 'word/header3.xml', content: running('hdr', 'Gravel Ltd', 'Harbour Street 5') },
        { name: 'word/footer1.xml', content: running('ftr', 'IBAN DE02 1203 0000', '7') },
      ],
    );

  it('is read of the headers and footers of Word: what nothing else says, once', async () => {
    const end = 'We offer gravel.\n\nA footnote.\n\nIBAN DE02 1203 0000';
    expect((await readShown(letter(), types.docx)).text).to.equal(`Gravel Ltd\n\n${end}`);
    expect((await readShown(letter('<w:titlePg/>'), types.docx)).text).to.equal(`Gravel Ltd\n\nHarbour Street 5\n\n${end}`);
    expect((await readShown(letter('<w:titlePg w:val="0"/>'), types.docx)).text).to.equal(`Gravel Ltd\n\n${end}`);
  });

  it('is read of the headers and footers of OpenDocument, unless they are off or hidden', async () => {
    const part = (name: string, text: string, attributes = '') => `<style:${name} ${attributes}><text:p>${text}</text:p></style:${name}>`;
    const hides = '<style:style style:family="paragraph" style:name="Quiet"><style:text-properties text:display="none"/></style:style>';
    const parts = [
      part('header', 'Gravel Ltd'),
      part('header-first', 'Harbour Street 5'),
      part('header-left', 'An old header', 'style:display="false"'),
      part('footer', 'IBAN DE02 1203 0000'),
      part('footer-left', '<text:page-number>7</text:page-number>'),
      part('footer-first', 'Directors: Ann, Bob'),
    ];
    const styles = `<office:document-styles>${hides}${hides.replace('paragraph', 'text').replace('Quiet', 'T1')}<office:master-styles><style:master-page>${parts.join('')}</style:master-page></office:master-styles></office:document-styles>`;
    const body =
      '<text:p>We offer <text:span text:style-name="T1">gravel</text:span>.</text:p><text:p text:style-name="Quiet">Not for long.</text:p><text:h text:style-name="Quiet">Nor this.</text:h>';
    const shown = '<style:style style:family="text" style:name="T1"><style:text-properties/></style:style>';
    const letter = makeOdt(body, '', shown, [{ name: 'styles.xml', content: styles }]);
    const { text } = await readShown(letter, types.odt);
    expect(text).to.equal('Gravel Ltd\n\nHarbour Street 5\n\nWe offer gravel.\n\nIBAN DE02 1203 0000\n\nDirectors: Ann, Bob');
  });

  it('is read in time, however many headers there are', async () => {
    const headers = Array.from({ length: 30_000 }, (_, number) => `{\\header a${number}b}`).join('');
    const { text } = await readShown(Buffer.from(`{\\rtf1 ${'Much is said. '.repeat(40_000)}${headers}}`), types.rtf);
    expect(text)
      .to.match(/^a0b\n\na1b\n\n/)
      .and.to.match(/said\.$/);
  });

  it('is read of the headers and footers of Excel, but for numbers of pages', async () => {
    const header =
      '&amp;L&amp;"Arial,Bold"&amp;12Gravel &amp;&amp;Lime &amp;&amp;Partners&amp;C&amp;K01+034Board&amp;KFF0000 A&amp;A&amp;RPage &amp;P of &amp;N\nLimeworks Ltd., offer 4711, page &amp;P\nTel. 030';
    const parts = `<headerFooter differentFirst="1"><firstHeader>First</firstHeader><evenHeader>Old</evenHeader><oddHeader>${header}</oddHeader><oddFooter>For the board only</oddFooter></headerFooter>`;
    const sheetOf = (xml: string) => makeXlsx(`<row><c><v>5</v></c></row></sheetData>${xml}<sheetData>`);
    const shown =
      'Gravel &Lime &Partners\n\nBoard A\n\nLimeworks Ltd., offer 4711, page\nTel. 030\n\nPrices\n\n| 5 |\n\nFor the board only';
    expect((await readShown(sheetOf(parts), types.xlsx)).text).to.equal(`First\n\n${shown}`);
    const onEven = parts.replace('First="1"', 'OddEven="true"');
    expect((await readShown(sheetOf(onEven), types.xlsx)).text).to.equal(`Old\n\n${shown}`);
  });

  it('is told: comments, objects, and what a large picture may say', async () => {
    const noted = makeDocx('<w:p><w:r><w:t>Fine.</w:t></w:r><w:r><w:commentReference w:id="0"/></w:r></w:p>');
    expect(await readShown(noted, types.docx)).to.deep.equal({ text: 'Fine.\n\nA footnote.', notices: [comments] });
    const sheet = makeXlsx('<row><c><v>5</v></c></row>', [], '', '', [
      relationsOf('xl/worksheets/sheet1.xml', { c1: ['comments', 'xl/comments1.xml'] }),
      { name: 'xl/comments1.xml', content: '<comments/>' },
    ]);
    expect((await readShown(sheet, types.xlsx)).notices).to.deep.equal([comments]);
    const slide = (words: string) => `<p:sp><p:txBody><a:p><a:r><a:t>${words}</a:t></a:r></a:p></p:txBody></p:sp>`;
    const discussed = [
      relationsOf('ppt/slides/slide1.xml', { c1: ['comments', 'ppt/comments/comment1.xml'] }),
      { name: 'ppt/comments/comment1.xml', content: '<p:cmLst/>' },
    ];
    expect((await readShown(makePptx([slide('Rest')], discussed), types.pptx)).notices).to.deep.equal([comments]);
    const rtf = String.raw`{\rtf1 Pay {\*\annotation by May}40.{\object\objemb{\*\objdata d0cf}{\result a picture}}\par}`;
    const found = await readShown(Buffer.from(rtf), types.rtf);
    expect(found).to.deep.equal({ text: 'Pay 40.', notices: ['Not read: an embedded object (of an unknown kind).', comments] });
    const picture = (cx: number, cy: number) =>
      `<w:p><w:r><w:drawing><wp:extent cx="${cx}" cy="${cy}"/><a:graphic><pic:pic/></a:graphic></w:drawing></w:r></w:p>`;
    const page = picture(5_500_000, 7_700_000);
    const unread = ['Not read: text in large pictures.'];
    expect((await readShown(makeDocx(wordParagraph('A scan.') + page), types.docx)).notices).to.deep.equal(unread);
    for (const body of [wordParagraph('A scan.') + picture(2_000_000, 2_000_000), wordParagraph('Much is said. '.repeat(20)) + page])
      expect((await readShown(makeDocx(body), types.docx)).notices).to.deep.equal([]);
  });

  it('is told of a large picture in RTF', async () => {
    const picture = (width: number, height = 12_000) => String.raw`{\rtf1 Seen {\pict\picwgoal${width}\pichgoal${height} 00}}`;
    const { notices } = await readShown(Buffer.from(picture(9000)), types.rtf);
    expect(notices).to.deep.equal(['Not read: text in large pictures.']);
    const scaled = picture(9000).replace('\\pict', String.raw`\pict\picscalex20\picscaley20`);
    const said = 'Much is said here. '.repeat(9);
    const twice = picture(9000)
      .replace('Seen', said)
      .replace(/(\{\\pict.*?\})/, String.raw`{\*\shppict$1}{\nonshppict$1}`);
    for (const small of [scaled, twice, picture(900), picture(9000, 1200)])
      expect((await readShown(Buffer.from(small), types.rtf)).notices).to.deep.equal([]);
  });

  it('is told of a large picture in OpenDocument, Excel and EPUB', async () => {
    const unread = ['Not read: text in large pictures.'];
    const frame = (height: string, more = '') =>
      makeOdt(`<text:p><draw:frame svg:width="6.5in" svg:height="${height}">${more}<draw:image/></draw:frame></text:p>`);
    expect((await readShown(frame('20cm'), types.odt)).notices).to.deep.equal(unread);
    expect((await readShown(frame('566pt'), types.odt)).notices).to.deep.equal(unread);
    expect((await readShown(frame('20mm'), types.odt)).notices).to.deep.equal([]);
    const words = `<text:p>${'Much is said here. '.repeat(9)}`;
    const once = makeOdt(`${words}<draw:frame svg:width="16cm" svg:height="20cm"><draw:image/><draw:image/></draw:frame></text:p>`);
    expect((await readShown(once, types.odt)).notices).to.deep.equal([]);
    const object = ['Not read: an embedded object (of an unknown kind).'];
    expect((await readShown(frame('20cm', '<draw:object xlink:href="a"/>'), types.odt)).notices).to.deep.equal(object);
    const picture = '<xdr:pic><xdr:spPr><a:xfrm><a:ext cx="5500000" cy="7700000"/></a:xfrm></xdr:spPr></xdr:pic>';
    const sheetOf = (drawing: string) =>
      makeXlsx('', [], '', '', [
        relationsOf('xl/worksheets/sheet1.xml', { x1: ['drawing', 'xl/drawings/drawing1.xml'] }),
        { name: 'xl/drawings/drawing1.xml', content: `<xdr:wsDr>${drawing}</xdr:wsDr>` },
      ]);
    expect((await readShown(sheetOf(picture), types.xlsx)).notices).to.deep.equal(unread);
    const shape = `<xdr:pic/>${picture.replaceAll('xdr:pic', 'xdr:sp')}${picture.replace('<xdr:spPr>', '<xdr:cNvPr hidden="1"/>$&')}`;
    expect((await readShown(sheetOf(shape), types.xlsx)).notices).to.deep.equal([]);
    const page = '<html><body><img src="1.png"/></body></html>';
    const cover = '<html><body><svg:svg xmlns:svg="http://www.w3.org/2000/svg"><svg:image x="1"/></svg:svg></body></html>';
    for (const one of [page, cover]) expect((await readShown(makeEpub([one, one]), types.epub)).notices).to.deep.equal(unread);
    expect((await readShown(makeEpub(['<p>Short.</p>']), types.epub)).notices).to.deep.equal([]);
    expect((await readShown(makeEpub([page, `<p>${'Much is said. '.repeat(20)}</p>`]), types.epub)).notices).to.deep.equal([]);
  });

  it('is told of slides that are pictures', async () => {
    const size = '<p:sldSz cx="9144000" cy="6858000"/>';
    const picture = (cx: number, cy: number) => `<p:pic><p:spPr><a:xfrm><a:ext cx="${cx}" cy="${cy}"/></a:xfrm></p:spPr></p:pic>`;
    const words = (text: string) => `<p:sp><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
    const slides = [
      picture(9_144_000, 6_858_000),
      picture(9_144_000, 6_858_000) + words('A footer'),
      picture(1_000_000, 500_000) + words('A logo.'),
      picture(9_144_000, 6_858_000) + words('Much is said upon it. '.repeat(10)),
    ];
    const bare = makePptx(slides);
    expect((await readShown(bare, types.pptx)).notices).to.deep.equal([]);
    const sized = makePptx(slides, [], size);
    expect((await readShown(sized, types.pptx)).notices).to.deep.equal(['Not read: text in the pictures that fill pages 1 to 2.']);
  });
});

describe('What an Office document shows', () => {
  it('is read of old forms and lettering: what is chosen of a list, and words that are drawn', async () => {
    const list = (state: string) =>
      `<w:p><w:r><w:t xml:space="preserve">Country: </w:t></w:r><w:r><w:fldChar><w:ffData><w:ddList>${state}<w:listEntry w:val="Norway"/><w:listEntry w:val="Sweden"/></w:ddList></w:ffData></w:fldChar></w:r></w:p>`;
    const drawn = '<w:p><w:r><w:pict><v:shape><v:textpath string="Grand opening"/></v:shape></w:pict></w:r></w:p>';
    const body = list('<w:result w:val="1"/>') + list('<w:default w:val="0"/>') + list('') + drawn;
    expect((await readShown(makeDocx(body), types.docx)).text).to.equal(
      'Country: Sweden\n\nCountry: Norway\n\nCountry: Norway\n\nGrand opening\n\nA footnote.',
    );
  });

  it('is read of signs of the font Symbol: Greek, and what formulas need', async () => {
    const sign = (code: string) => `<w:r><w:sym w:font="Symbol" w:char="${code}"/></w:r>`;
    const body = `<w:p>${['F061', 'F057', 'F0A3', 'F0B0', 'F0B1', 'F0E5', 'F07E', '00D0', 'F0FF'].map(sign).join('')}</w:p>`;
    expect((await readShown(makeDocx(body), types.docx)).text).to.equal('αΩ≤°±∑∼∠\n\nA footnote.');
    const pieces = `<w:p>${['F0A0', 'F0E6', 'F0EF', 'F0F0', 'F0F1', 'F0F2', 'F0FE', '03B1', 'E061'].map(sign).join('')}</w:p>`;
    expect((await readShown(makeDocx(pieces), types.docx)).text).to.equal('€⎛⎪〉∫⎭α\n\nA footnote.');
  });

  it('is not what a style of Word hides', async () => {
    const style = (id: string, properties: string) => `<w:style w:type="character" w:styleId="${id}">${properties}</w:style>`;
    const styles = wordStyles(
      `${style('Own', '<w:rPr><w:vanish/></w:rPr>')}${style('Based', '<w:basedOn w:val="Own"/>')}${style('Back', '<w:basedOn w:val="Own"/><w:rPr><w:vanish w:val="0"/></w:rPr>')}`,
    );
    const run = (name: string, more = '') => `<w:r><w:rPr><w:rStyle w:val="${name}"/>${more}</w:rPr><w:t>${name} </w:t></w:r>`;
    const body = `<w:p>${run('Own')}${run('Based')}${run('Back')}${run('Own', '<w:vanish w:val="0"/>')}</w:p>`;
    expect((await readShown(makeDocx(body, [styles]), types.docx)).text).to.equal('Back Own\n\nA footnote.');
  });

  it('lacks the results of formulas that no program has computed, and says so', async () => {
    const cells = '<c><f>A1*2</f></c><c><f>A1*3</f><v>15</v></c><c t="str"><f>""</f><v></v></c><c t="e"><f>1/0</f><v>#DIV/0!</v></c>';
    expect(await readShown(makeXlsx(`<row><c><v>5</v></c>${cells}</row>`), types.xlsx)).to.deep.equal({
      text: 'Prices\n\n| 5 |  | 15 |  | #DIV/0! |',
      notices: ['Not read: formulas without a stored result (1 on Prices).'],
    });
  });

  it('is read of OpenDocument: charts and formulas where they stand, nothing that is hidden', async () => {
    const row = (attributes: string, ...cells: string[]) =>
      `<table:table-row ${attributes}>${cells.map((cell) => `<table:table-cell><text:p>${cell}</text:p></table:table-cell>`).join('')}</table:table-row>`;
    const object = (number: number) => `<text:p><draw:frame><draw:object xlink:href="./Object ${number}"/></draw:frame></text:p>`;
    const shapes = ['custom-shape', 'rect', 'ellipse', 'circle', 'caption', 'polygon', 'path', 'line', 'polyline', 'connector'];
    const body = [
      '<text:p>Before<office:annotation><text:p>a comment</text:p></office:annotation>.</text:p>',
      '<text:section text:display="none"><text:p>A hidden section.</text:p></text:section>',
      `<table:table>${row('table:visibility="collapse"', 'a hidden row')}${row('', 'shown', '5')}</table:table>`,
      object(1),
      object(2),
      object(3),
      ...shapes.map((name) => `<text:p>Go <draw:${name}><text:p>a ${name}</text:p></draw:${name}>on.</text:p>`),
      '<text:p><draw:frame><draw:object xlink:href="Formula 4/"/></draw:frame></text:p>',
    ].join('');
    const chart = `<office:document-content><office:body><office:chart><chart:title><text:p>Harvest</text:p></chart:title><table:table>${row('', 'Lime', '41')}</table:table></office:chart></office:body></office:document-content>`;
    const formula =
      '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>E</mi></mrow><annotation encoding="StarMath 5.0">E = m c^2</annotation></semantics></math>';
    const typeless = '<math xmlns="http://www.w3.org/1998/Math/MathML"><mfrac><mn>1</mn><mn>2</mn></mfrac></math>';
    const bytes = makeOdt(body, '', '', [
      { name: 'Formula 4/content.xml', content: typeless },
      { name: 'Object 1/content.xml', content: chart },
      { name: 'Object 2/content.xml', content: formula },
    ]);
    const unknown = makeOdt('<text:p>a<draw:object xlink:href="./Object 1"/></text:p>', '', '', [
      { name: 'Object 1/content.xml', content: '<office:document-content><office:meta>b</office:meta></office:document-content>' },
    ]);
    const unread = ['Not read: an embedded object (of an unknown kind).'];
    expect(await readShown(unknown, types.odt)).to.deep.equal({ text: 'a', notices: unread });
    expect(await readShown(bytes, types.odt)).to.deep.equal({
      text: `Before.\n\n| shown | 5 |\n\nHarvest\n\n| Lime | 41 |\n\nE = m c^2\n\n${shapes.map((name) => `Go on.\n\na ${name}`).join('\n\n')}\n\n1/2`,
      notices: ['Not read: an embedded object (of an unknown kind).', comments],
    });
  });
});
