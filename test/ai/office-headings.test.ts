import { expect } from 'chai';
import { extraKinds as types } from '../../contract/content-types.ts';
import { headingAt, locateHeadings } from '../../domain/chunking/heading-paths.ts';
import { makeDocx, makeEpub, makeOdt, makePptx, makeXlsx, wordParagraph, wordStyles } from './support/make-office.ts';
import { read } from './support/read.ts';

describe('Headings of office documents and books', () => {
  /** The headings that each of these words is under, the outermost first. */
  const pathsIn = async (body: Buffer, contentType: string, ...words: string[]) => {
    const { text, outline } = await read(body, contentType);
    const characters = [...text];
    for (const { start, title } of outline.headings)
      expect(title.startsWith(characters.slice(start).join('').split('\n', 1)[0] ?? '?'), title).to.equal(true);
    const headings = locateHeadings(text, outline.headings);
    return words.map((word) => {
      const at = text.indexOf(word);
      expect(at, word).to.be.at.least(0);
      return headingAt(headings, at)?.path ?? [];
    });
  };

  const styled = (text: string, style: string, more = '') =>
    `<w:p><w:pPr><w:pStyle w:val="${style}"/>${more}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const style = (id: string, xml: string) => `<w:style w:type="paragraph" w:styleId="${id}">${xml}</w:style>`;
  const docx = (body: string[], styles?: string[]) => makeDocx(body.join(''), styles ? [wordStyles(styles.join(''))] : []);

  it('are those of Word by built-in names in any language, levels of the outline, and styles that are based on them', async () => {
    const styles = [
      style('berschrift1', '<w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr>'),
      style('berschrift2', '<w:name w:val="heading 2"/>'),
      style('Clause', '<w:name w:val="Clause"/><w:basedOn w:val="berschrift2"/>'),
      style('Deep', '<w:name w:val="Deep"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr>'),
      style('Plain', '<w:name w:val="Plain"/><w:basedOn w:val="berschrift1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>'),
      style('Loop', '<w:name w:val="Loop"/><w:basedOn w:val="Loop"/>'),
      '<w:style w:type="character" w:styleId="berschrift1Zchn"><w:name w:val="heading 1 Char"/></w:style>',
    ];
    const was = '<w:pPrChange><w:pPr><w:pStyle w:val="berschrift1"/><w:outlineLvl w:val="0"/></w:pPr></w:pPrChange>';
    const body = [
      styled('Lease', 'berschrift1'),
      wordParagraph('alpha'),
      styled('Rent', 'Clause'),
      wordParagraph('beta'),
      styled('Due<w:br/>', 'Deep'),
      wordParagraph('gamma'),
      styled('Deposit', 'Normal', '<w:outlineLvl w:val="1"/>'),
      styled('delta', 'Plain'),
      styled('epsilon', 'Loop'),
      styled('zeta', 'Normal', was),
      '<w:tbl><w:tr><w:tc>',
      styled('Cell', 'berschrift1'),
      '</w:tc></w:tr></w:tbl>',
      styled('End', 'berschrift1'),
      wordParagraph('omega'),
    ];
    const words = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'Cell', 'omega'];
    expect(await pathsIn(docx(body, styles), types.docx, ...words)).to.deep.equal([
      ['Lease'],
      ['Lease', 'Rent'],
      ['Lease', 'Rent', 'Due'],
      ...Array(4).fill(['Lease', 'Deposit']),
      ['End'],
    ]);
  });

  it('are those of Word by the ids of their styles if it says nothing of styles, and keep to their paragraph', async () => {
    const shape = `<w:r><w:pict><w:txbxContent>${wordParagraph('boxed')}</w:txbxContent></w:pict></w:r>`;
    const body = [
      `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>${shape}<w:r><w:t>Lease</w:t></w:r></w:p>`,
      wordParagraph('alpha'),
      styled('Rent', 'Heading2'),
      wordParagraph('beta'),
      styled('gamma', 'HeadingOfTable'),
    ];
    expect(await pathsIn(docx(body), types.docx, 'alpha', 'beta', 'gamma')).to.deep.equal([['Lease'], ...Array(2).fill(['Lease', 'Rent'])]);
  });

  it('are those of Word however its styles are based on each other', async () => {
    const chain = Array.from({ length: 20_000 }, (_, index) => style(`S${index}`, `<w:basedOn w:val="S${index + 1}"/>`));
    const body = Array.from({ length: 20_000 }, (_, index) => styled(`p${index}`, `S${index % 2}`));
    expect(
      await pathsIn(docx([...body, styled('Lease', 'Top')], [...chain, style('Top', '<w:name w:val="heading 1"/>')]), types.docx, 'Lease'),
    ).to.deep.equal([['Lease']]);
  });

  it('are those of OpenDocument by their levels', async () => {
    const note = '<text:note><text:note-body><text:p>aside</text:p></text:note-body></text:note>';
    const body = `<text:h text:outline-level="1">Lease${note}</text:h><text:p>alpha</text:p>
<text:list><text:list-item><text:h text:outline-level="2">Rent <text:span>due</text:span></text:h></text:list-item></text:list><text:p>beta</text:p>
<text:h>End</text:h><text:p>gamma</text:p>`;
    expect(await pathsIn(makeOdt(body), types.odt, 'alpha', 'beta', 'gamma')).to.deep.equal([['Lease'], ['Lease', 'Rent due'], ['End']]);
  });

  it('are those of the chapters of EPUB', async () => {
    const book = makeEpub(['<h1>One</h1><p>alpha</p><h2>The <em>gravel</em></h2><p>beta</p>', '<h1>Two</h1><p>gamma</p>']);
    expect(await pathsIn(book, types.epub, 'alpha', 'beta', 'gamma')).to.deep.equal([['One'], ['One', 'The gravel'], ['Two']]);
  });

  it('stand where they are, not where a table of contents names them', async () => {
    const names = ['Care', 'Mirrors', 'Domes'];
    const join = (toXml: (name: string) => string) => names.map(toXml).join('');
    const about = (name: string) => `About ${name.toLowerCase()}.`;
    const documents: [Buffer, string][] = [
      [docx([join(wordParagraph), join((name) => styled(name, 'Heading1') + wordParagraph(about(name)))]), types.docx],
      [
        makeOdt(join((name) => `<text:p>${name}</text:p>`) + join((name) => `<text:h>${name}</text:h><text:p>${about(name)}</text:p>`)),
        types.odt,
      ],
      [makeEpub([join((name) => `<p>${name}</p>`), ...names.map((name) => `<h2>${name}</h2><p>${about(name)}</p>`)]), types.epub],
    ];
    for (const [body, contentType] of documents)
      expect(await pathsIn(body, contentType, ...names.map(about)), contentType).to.deep.equal(names.map((name) => [name]));
  });

  it('are the titles of slides, wherever these have them', async () => {
    const paragraph = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`;
    const shape = (type: string, ...paragraphs: string[]) =>
      `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody>${paragraphs.map(paragraph).join('')}</p:txBody></p:sp>`;
    const deck = makePptx([
      shape('ctrTitle', 'The lease', 'of 2026') + shape('subTitle', 'alpha', 'Rent'),
      shape('body', 'beta') + shape('title', 'Rent') + shape('title', 'gamma'),
      shape('title') + shape('body', 'delta'),
    ]);
    const { text, outline } = await read(deck, types.pptx);
    expect(text).to.equal('The lease\nof 2026\n\nalpha\n\nRent\n\nRent\n\nbeta\n\ngamma\n\ndelta');
    expect(outline.page_starts).to.deep.equal([0, text.indexOf('Rent\n\nbeta'), text.indexOf('delta')]);
    expect(await pathsIn(deck, types.pptx, 'alpha', 'beta', 'gamma', 'delta')).to.deep.equal([
      ['The lease of 2026'],
      ...Array(3).fill(['Rent']),
    ]);
  });

  it('are the names of sheets', async () => {
    const cells = ['Lamp', '12'].map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('');
    expect(await pathsIn(makeXlsx(`<row>${cells}</row>`), types.xlsx, 'Lamp')).to.deep.equal([['Prices']]);
  });
});
