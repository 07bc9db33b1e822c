import { expect } from 'chai';
import { extraKinds as types } from '../../contract/content-types.ts';
import { makeDocx, makePptx, makeXlsx, relationsOf, wordParagraph } from './support/make-office.ts';
import { read } from './support/read.ts';

const point = (text: string) => `<dgm:pt><dgm:t><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`;
const diagram = (...texts: string[]) => `<dgm:dataModel><dgm:ptLst>${texts.map(point).join('')}</dgm:ptLst></dgm:dataModel>`;
const points = (values: string[]) => values.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join('');
const series = (name: string, labels: string[], values: string[], format: string) =>
  `<c:ser><c:tx><c:strRef><c:f>A1</c:f><c:strCache>${points([name])}</c:strCache></c:strRef></c:tx><c:cat><c:strRef>${points(labels)}</c:strRef></c:cat><c:val><c:numRef><c:numCache><c:formatCode>${format}</c:formatCode>${points(values)}</c:numCache></c:numRef></c:val></c:ser>`;
const titled = (text: string) => `<c:title><c:tx><c:rich><a:p><a:r><a:t>${text}</a:t></a:r></a:p></c:rich></c:tx></c:title>`;
const chart = `<c:chartSpace><c:chart>${titled('Harvest of the roof hives')}<c:plotArea><c:barChart>${series('Kilograms 2025', ['Lime honey', 'Heather honey'], ['41.5', '17'], 'General')}${series('Share', ['Lime honey', 'Heather honey'], ['0.71', '0.29'], '0%')}</c:barChart><c:valAx>${titled('Weight')}</c:valAx></c:plotArea></c:chart></c:chartSpace>`;
const table = '|  | Kilograms 2025 | Share |\n| Lime honey | 41.5 | 71% |\n| Heather honey | 17 | 29% |';
const steps = ['Inspect the hive', 'Treat against mites', 'Close the entrance'];
const relIds = '<dgm:relIds r:dm="x1" r:lo="x1"/>';
const inWord = (xml: string) => `<w:p><w:r><w:drawing><a:graphic><a:graphicData>${xml}</a:graphicData></a:graphic></w:drawing></w:r></w:p>`;
const text = (words: string) => `<p:sp><p:txBody><a:p><a:r><a:t>${words}</a:t></a:r></a:p></p:txBody></p:sp>`;
const frame = (xml: string) => `<p:graphicFrame><a:graphic><a:graphicData>${xml}</a:graphicData></a:graphic></p:graphicFrame>`;

/** A part that the first slide of a presentation shows. */
const ofSlide = (type: string, target: string, content: string) => [
  relationsOf('ppt/slides/slide1.xml', { x1: [type, target] }),
  { name: target, content },
];
const ofWord = (type: string, target: string, content: string | Buffer) => [
  relationsOf('word/document.xml', { x1: [type, target] }),
  { name: target, content },
];

describe('Parts that another part of an office document shows', () => {
  it('are the diagrams of Word and PowerPoint, where they stand', async () => {
    const word = makeDocx(
      wordParagraph('The three steps of autumn:') + inWord(relIds) + wordParagraph('Then rest.'),
      ofWord('diagramData', 'word/diagrams/data1.xml', diagram(...steps)),
    );
    expect((await read(word, types.docx)).text).to.equal(
      ['The three steps of autumn:', ...steps, 'Then rest.', 'A footnote.'].join('\n\n'),
    );
    const deck = makePptx(
      [text('Autumn') + frame(relIds) + text('Rest')],
      ofSlide('diagramData', 'ppt/diagrams/data1.xml', diagram(...steps)),
    );
    expect((await read(deck, types.pptx)).text).to.equal(['Autumn', ...steps, 'Rest'].join('\n\n'));
  });

  it('are charts, with their titles and their numbers as a table', async () => {
    const shown = ['Harvest of the roof hives', 'Weight', table].join('\n\n');
    const chartOf = '<c:chart r:id="x1"/>';
    const deck = makePptx([text('Report') + frame(chartOf)], ofSlide('chart', 'ppt/charts/chart1.xml', chart));
    expect((await read(deck, types.pptx)).text).to.equal(`Report\n\n${shown}`);
    const word = makeDocx(inWord(chartOf), ofWord('chart', 'word/charts/chart1.xml', chart));
    expect((await read(word, types.docx)).text).to.equal(`${shown}\n\nA footnote.`);
    const other = makePptx(
      [frame(chartOf)],
      ofSlide(
        'chart',
        'ppt/charts/chart1.xml',
        chart.replaceAll('c:', 'z:').replace('<z:chartSpace', '<z:chartSpace xmlns:z="http://purl.oclc.org/ooxml/drawingml/chart"'),
      ),
    );
    expect((await read(other, types.pptx)).text).to.equal(shown);
  });

  it('are the boxes of text and the titles of charts on a sheet, below its rows', async () => {
    const box = '<xdr:sp><xdr:txBody><a:p><a:r><a:t>The scale shows too much.</a:t></a:r></a:p></xdr:txBody></xdr:sp>';
    const drawing = `<xdr:wsDr>${box}<xdr:graphicFrame><c:chart r:id="x1"/></xdr:graphicFrame></xdr:wsDr>`;
    const workbook = makeXlsx('<row><c><v>5</v></c></row>', [], '', '', [
      relationsOf('xl/worksheets/sheet1.xml', { x1: ['drawing', 'xl/drawings/drawing1.xml'] }),
      { name: 'xl/drawings/drawing1.xml', content: drawing },
      relationsOf('xl/drawings/drawing1.xml', { x1: ['chart', 'xl/charts/chart1.xml'] }),
      { name: 'xl/charts/chart1.xml', content: chart },
    ]);
    expect((await read(workbook, types.xlsx)).text).to.equal(
      ['Prices', '| 5 |', 'The scale shows too much.', 'Harvest of the roof hives', 'Weight'].join('\n\n'),
    );
  });

  it('are the documents that are put into a Word document; one that cannot be read is told', async () => {
    const chunk = `${wordParagraph('Before.')}<w:altChunk r:id="x1"/>${wordParagraph('After.')}`;
    const inner = makeDocx(wordParagraph('From Word.'));
    for (const [name, content, shown] of [
      ['a.html', '<html><body><h1>From</h1><p>a page.</p></body></html>', 'From\n\na page.'],
      ['a.docx', inner, 'From Word.\n\nA footnote.'],
      ['a.rtf', String.raw`{\rtf1\ansi From RTF.\par}`, 'From RTF.'],
      ['a.txt', 'From a text.', 'From a text.'],
    ] as const) {
      const { text: found, notices } = await read(makeDocx(chunk, ofWord('aFChunk', `word/${name}`, content as string)), types.docx);
      expect(found, name).to.equal(`Before.\n\n${shown}\n\nAfter.\n\nA footnote.`);
      expect(notices).to.equal(undefined);
    }
    const { text: found, notices } = await read(makeDocx(chunk, ofWord('aFChunk', 'word/a.mht', 'x')), types.docx);
    expect(found).to.equal('Before.\n\nAfter.\n\nA footnote.');
    expect(notices).to.deep.equal([{ code: 'part_not_read', text: 'Not read: the file a.mht.' }]);
  });

  it('are the notes of a slide, below a heading on its page, without their number', async () => {
    const number =
      '<p:sp><p:nvSpPr><p:nvPr><p:ph type="sldNum"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>7</a:t></a:r></a:p></p:txBody></p:sp>';
    const notes = (words: string) => ofSlide('notesSlide', 'ppt/notesSlides/notesSlide1.xml', text(words) + number);
    const { text: found, outline, notices } = await read(makePptx([text('First'), text('Report')], notes('Smile.')), types.pptx);
    expect(found).to.equal('First\n\nReport\n\nNotes\n\nSmile.');
    expect(outline.page_starts).to.deep.equal([0, found.indexOf('Report')]);
    expect(outline.headings).to.deep.equal([{ level: 2, start: found.indexOf('Notes'), title: 'Notes' }]);
    expect(notices).to.equal(undefined);
    expect((await read(makePptx([text('Report')], notes(' ')), types.pptx)).text).to.equal('Report');
  });

  it('are told if they are not read: embedded objects, damaged documents', async () => {
    const notesOf = async (bytes: Uint8Array, type: string) => (await read(bytes, type)).notices?.map((notice) => notice.text);
    const object = '<w:p><w:r><w:object><o:OLEObject ProgID="Visio.Drawing.15" r:id="x9"/></w:object></w:r></w:p>';
    expect(await notesOf(makeDocx(object + object), types.docx)).to.deep.equal(['Not read: an embedded object (Visio.Drawing.15).']);
    const damaged = makeDocx('<w:altChunk r:id="x1"/>', ofWord('aFChunk', 'word/a.docx', 'no archive'));
    expect(await notesOf(damaged, types.docx)).to.deep.equal(['Not read: the file a.docx.']);
    const embedded = makePptx([frame('<p:oleObj progId="Excel.Sheet.12" r:id="x9"/>')]);
    expect(await notesOf(embedded, types.pptx)).to.deep.equal(['Not read: an embedded object (Excel.Sheet.12).']);
    const sheet = makeXlsx('</sheetData><oleObjects><oleObject progId="Word.Document.12"/></oleObjects><sheetData>');
    expect(await notesOf(sheet, types.xlsx)).to.deep.equal(['Not read: an embedded object (Word.Document.12).']);
  });

  it('are equations of one paragraph of a slide apart from each other', async () => {
    const math = (words: string) => `<m:oMath><m:r><m:t>${words}</m:t></m:r></m:oMath>`;
    const slide = `<p:sp><p:txBody><a:p><a14:m><m:oMathPara>${math('a=1')}${math('b=2')}</m:oMathPara></a14:m></a:p></p:txBody></p:sp>`;
    expect((await read(makePptx([slide]), types.pptx)).text).to.equal('a=1 b=2');
  });
});
