import PDFDocument from 'pdfkit';
import { parts, title } from '../../../../docs/examples/samples/handbook.ts';
import type { MadeDocument } from './made-document.ts';

const mediaType = 'application/pdf';
const options = { size: 'A4', margin: 70, bufferPages: true, info: { CreationDate: new Date('2024-05-01T00:00:00Z') } };
const prose = parts.flatMap((part) => (part.kind === 'paragraph' ? [part.text] : []));

/** PDFs that are set in different ways. */
export async function makeLayouts(): Promise<MadeDocument[]> {
  return [await book(), await slides(), await form(), await interleaved(), await paperWithTable(), await bill()];
}

/** Chapters and sections, with the title at the head of each page and its number at the foot. */
async function book(): Promise<MadeDocument> {
  const document = new PDFDocument({ ...options, size: 'A5' });
  const texts: string[] = [title];
  document.font('Helvetica-Bold').fontSize(22).text(title).moveDown();
  for (const part of parts) {
    if (part.kind !== 'chapter' && part.kind !== 'section' && part.kind !== 'paragraph') continue;
    texts.push(part.text);
    if (part.kind === 'paragraph') document.font('Helvetica').fontSize(10).text(part.text).moveDown(0.6);
    else {
      document.moveDown(0.5).font('Helvetica-Bold');
      document.fontSize(part.kind === 'chapter' ? 14 : 10).text(part.text);
      document.moveDown(0.4);
    }
  }
  onEveryPage(document, (page) => {
    document.font('Helvetica-Oblique').fontSize(8).text(title, 70, 30, { lineBreak: false });
    document.text(`- ${page + 1} -`, 200, 560, { lineBreak: false });
  });
  return { name: 'PDF, book', mediaType, bytes: await finish(document), text: texts.join('\n') };
}

/** Slides: a title, a few points, and the name of the talk below each. */
async function slides(): Promise<MadeDocument> {
  const document = new PDFDocument({ ...options, size: [720, 405], margin: 50, autoFirstPage: false });
  const chapters = parts.flatMap((part) => (part.kind === 'chapter' || part.kind === 'section' ? [part.text] : [])).slice(0, 10);
  const points = chapters.map((_, index) => prose[index]?.split(/(?<=\.) /).slice(0, 3) ?? []);
  for (const [index, chapter] of chapters.entries()) {
    document
      .addPage()
      .font('Helvetica')
      .fontSize(30)
      .text(chapter)
      .moveDown(0.5)
      .fontSize(18)
      .list(points[index] ?? []);
  }
  onEveryPage(document, (page) =>
    document.fontSize(10).text(`A talk for new observers, ${page + 1} / ${chapters.length}`, 50, 380, { lineBreak: false }),
  );
  const text = [...chapters.flatMap((chapter, index) => [chapter, ...(points[index] ?? [])]), 'A talk for new observers'].join('\n');
  return { name: 'PDF, slides', mediaType, bytes: await finish(document), text };
}

const sections = ['Applicant', 'Visit', 'Instruments', 'Declaration'];
const labels = ['Family name', 'Given name', 'Institute', 'Nights asked for', 'First choice', 'Special needs'];

/** A form: sections of labels in bold, each with what was entered below it or beside it. */
async function form(): Promise<MadeDocument> {
  const document = new PDFDocument(options);
  const texts = ['Request for observing time'];
  document
    .font('Helvetica-Bold')
    .fontSize(20)
    .text(texts[0] ?? '')
    .moveDown();
  for (const [at, section] of sections.entries()) {
    document.font('Helvetica-Bold').fontSize(14).text(section).moveDown(0.5).fontSize(10);
    texts.push(section);
    for (const [index, label] of labels.entries()) {
      const entered = `Entry ${at * labels.length + index}`;
      const isBeside = index % 2 === 0;
      document.font('Helvetica-Bold').text(label, { continued: isBeside });
      document
        .font('Helvetica')
        .text(isBeside ? `  ${entered}` : entered)
        .moveDown(0.5);
      texts.push(`${label} ${entered}`);
    }
  }
  return { name: 'PDF, form', mediaType, bytes: await finish(document), text: texts.join('\n') };
}

const columnCharacters = 42;
const linesOfColumn = 50;

/** Two columns that are drawn line by line across both, as some programs print them. */
async function interleaved(): Promise<MadeDocument> {
  const lines = wrap(prose.join(' '), columnCharacters);
  const document = new PDFDocument({ ...options, autoFirstPage: false });
  document.font('Times-Roman').fontSize(10.5);
  for (let first = 0; first < lines.length; first += 2 * linesOfColumn) {
    document.addPage();
    for (let row = 0; row < linesOfColumn; row += 1) {
      for (const column of [0, 1]) {
        const line = lines[first + column * linesOfColumn + row];
        if (line !== undefined) document.text(line, 60 + 245 * column, 70 + 14 * row, { lineBreak: false });
      }
    }
  }
  return { name: 'PDF, two columns drawn line by line', mediaType, bytes: await finish(document), text: lines.join('\n') };
}

const instruments = [
  ['Instrument', 'Range', 'Cooled to', 'Nights'],
  ['Echelle', '380-740 nm', '-110', '61'],
  ['Two-colour camera', '400-900 nm', '-35', '112'],
  ['Hydrogen line receiver', '21 cm', 'no', '1,240'],
  ['Photometer', '350-820 nm', '-60', '7.5'],
  ['Finder', 'all', 'no', '203'],
];

/** A paper in two columns with a table in the left one: numbers end at one place, and heads stand over the middle of their columns. */
async function paperWithTable(): Promise<MadeDocument> {
  const lines = wrap(prose.join(' '), columnCharacters);
  const document = new PDFDocument(options);
  document.font('Times-Roman').fontSize(10.5);
  const drawColumn = (texts: string[], x: number, y: number) => {
    for (const [row, text] of texts.entries()) document.text(text, x, y + 14 * row, { lineBreak: false });
  };
  const [above, below, right] = [lines.slice(0, 18), lines.slice(18, 36), lines.slice(36, 84)];
  drawColumn(above, 60, 70);
  for (const [row, cells] of instruments.entries()) drawRow(document, cells, 340 + 14 * row, row === 0);
  drawColumn(below, 60, 440);
  drawColumn(right, 320, 70);
  const text = [...above, ...instruments.map((row) => row.join(' ')), ...below, ...right].join('\n');
  return { name: 'PDF, table in a column', mediaType, bytes: await finish(document), text };
}

const instrumentColumns = [
  { x: 60, width: 0 },
  { x: 165, width: 0 },
  { x: 220, width: 40 },
  { x: 268, width: 32 },
];

function drawRow(document: PDFKit.PDFDocument, cells: string[], y: number, isHead: boolean): void {
  for (const [index, cell] of cells.entries()) {
    const { x, width } = instrumentColumns[index] ?? { x: 0, width: 0 };
    const room = width === 0 ? 0 : width - document.widthOfString(cell);
    document.text(cell, x + (isHead ? room / 2 : room), y, { lineBreak: false });
  }
}

const services = ['Delivery of lamp oil', 'Cleaning of the dome and of its rails, inside and outside', 'Mirror, coated', 'Night watch'];

/** A bill without lines: descriptions of one or two lines, sums that end at one place, the total below them. */
async function bill(): Promise<MadeDocument> {
  const heads = ['No.', 'Service', 'Hours', 'Rate', 'Sum'];
  const charges = Array.from({ length: 16 }, (_, row) => {
    const [hours, rate] = [1 + ((row * 7) % 40), 18.5 + row * 3];
    return [String(row + 1), services[row % 4] ?? '', String(hours), rate.toFixed(2), (hours * rate).toFixed(2)];
  });
  const document = new PDFDocument(options);
  document.font('Helvetica').fontSize(10).text('Invoice 2024-118 to the harbour office of Oldwick', 70, 70, { lineBreak: false });
  let y = 110;
  for (const [row, cells] of [heads, ...charges].entries()) {
    for (const [column, cell] of cells.entries()) {
      const [x = 0, width = 0] = [[70], [100, 170], [280, 50], [350, 60], [430, 80]][column] ?? [];
      document.text(cell, x, y, width === 0 ? { lineBreak: false } : { width, align: column > 1 ? 'right' : 'left' });
    }
    y += row > 0 && row % 4 === 2 ? 30 : 18;
  }
  document.text('Payable within fourteen days to the account of the observatory.', 70, y + 20, { lineBreak: false });
  const text = [
    'Invoice 2024-118 to the harbour office of Oldwick',
    ...[heads, ...charges].map((row) => row.join(' ')),
    'Payable within fourteen days to the account of the observatory.',
  ].join('\n');
  return { name: 'PDF, bill without lines', mediaType, bytes: await finish(document), text };
}

function wrap(text: string, width: number): string[] {
  return text.match(new RegExp(`\\S.{0,${width - 2}}\\S(?=\\s|$)`, 'g')) ?? [];
}

function onEveryPage(document: PDFKit.PDFDocument, draw: (page: number) => void): void {
  const { count } = document.bufferedPageRange();
  for (let page = 0; page < count; page += 1) {
    document.switchToPage(page);
    document.page.margins = { top: 0, bottom: 0, left: 0, right: 0 };
    draw(page);
  }
}

async function finish(document: PDFKit.PDFDocument): Promise<Buffer> {
  document.end();
  return Buffer.concat(await document.toArray());
}
