import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import PDFDocument from 'pdfkit';
import type { Line } from '../../ai/formats/pdf/page-line.ts';
import { leaveOutRunningLines } from '../../ai/formats/pdf/running-lines.ts';
import { parts, title } from '../../docs/examples/samples/handbook.ts';
import { processorSeconds } from '../support/hostile-texts.ts';
import { makePdf, makePdfOf, stream } from './support/make-pdf.ts';
import { read } from './support/read.ts';

const readPdf = (bytes: Buffer) => read(bytes, 'application/pdf');
const sentence = 'The observatory stands on the eastern shoulder of the mountain, and its lamp is lit every night of the year.';

/** Pages of lines at heights above the lower edge: `[text, y]`. */
async function makePages(pages: [string, number][][]): Promise<Buffer> {
  const document = new PDFDocument({ size: [600, 800], margin: 0, autoFirstPage: false });
  for (const lines of pages) {
    document.addPage().fontSize(11);
    for (const [text, y] of lines) document.text(text, 60, 800 - y, { lineBreak: false });
  }
  document.end();
  return Buffer.concat(await document.toArray());
}

describe('What every page of a PDF has', () => {
  const textOf = async (pages: [string, number][][]) => (await readPdf(await makePages(pages))).text;
  const body = (page: number): [string, number][] =>
    [1, 2, 3, 4].map((line) => [`Line ${'abcd'[line - 1]} of text ${'uvwxyz'[page]}`, 700 - 20 * line]);
  const bodyText = (page: number) =>
    body(page)
      .map(([text]) => text)
      .join('\n');
  const numbers = [0, 1, 2, 3];

  it('is left out but for its first place: running headers; and numbers of pages altogether', async () => {
    const text = await textOf(numbers.map((page) => [['Annual Report', 770], ...body(page), [`Page ${page + 1} of 4`, 30]]));
    expect(text).to.equal(`Annual Report\n\n${numbers.map(bodyText).join('\n\n')}`);
  });

  it('is left out altogether if the text says it, too', async () => {
    const pages = numbers.map((page): [string, number][] => [...body(page), [`Annual Report - page ${page + 1} of 4`, 30]]);
    pages[0]?.unshift(['Annual Report', 740]);
    expect(await textOf(pages)).to.equal(`Annual Report\n\n${numbers.map(bodyText).join('\n\n')}`);
  });

  it('is left out if pages on the left have another header than pages on the right, with the number in it', async () => {
    const head = (page: number): [string, number] => [
      page % 2 === 0 ? `The Keeper’s Handbook ${page + 11}` : `${page + 11} Chapter One`,
      770,
    ];
    const pages = [0, 1, 2, 3, 4, 5];
    const text = await textOf(pages.map((page) => [head(page), ...body(page)]));
    expect(text).to.equal(`The Keeper’s Handbook 11\n\n${bodyText(0)}\n\n12 Chapter One\n\n${pages.slice(1).map(bodyText).join('\n\n')}`);
  });

  it('is not what has a number of its own on each page: invoices, records', async () => {
    const heads = numbers.map((page) => `Invoice ${page + 1} of the harbour`);
    const text = await textOf(numbers.map((page) => [[heads[page] ?? '', 770], ...body(page)]));
    expect(text).to.equal(numbers.map((page) => `${heads[page]}\n\n${bodyText(page)}`).join('\n\n'));
  });

  it('is not what stands on two pages, at different heights, or with different numbers', async () => {
    const heads: ((page: number) => [string, number])[] = [
      (page) => ['Summary', page < 2 ? 770 : 790 - 30 * page],
      (page) => ['Total', 790 - 25 * page],
      (page) => [`Item ${[7, 3, 9, 1][page]}`, 770],
    ];
    for (const head of heads) {
      const text = await textOf(numbers.map((page) => [head(page), ...body(page)]));
      expect(text.match(/^(?:Summary|Total|Item \d)$/gm), text).to.have.length(4);
    }
  });

  it('is kept on pages that have nothing else', async () => {
    const lines: [string, number][] = [
      ['Only this', 400],
      ['and that', 386],
    ];
    expect(await textOf(numbers.map(() => lines))).to.equal(Array(4).fill('Only this\nand that').join('\n\n'));
    expect(await textOf(numbers.map(() => lines.slice(0, 1)))).to.equal(Array(4).fill('Only this').join('\n\n'));
  });

  it('is looked for in time among lines that are all numbers', async () => {
    const numbered = Array.from({ length: 20_000 }, (_, index) => index % 9).join(' ');
    const place = { x: 60, size: 11, bold: false, upright: true, gapped: false, parts: [] };
    const lines = [770, 400, 30].map((y): Line => ({ ...place, text: numbered, y }));
    expect(await processorSeconds(() => leaveOutRunningLines(Array(3).fill(lines)))).to.be.below(1);
  });
});

type Piece = string | { text: string; size?: number; bold?: boolean };

/** A document of paragraphs, each below the other. */
async function makeDocument(pieces: (Piece | 'new page')[]): Promise<Buffer> {
  const document = new PDFDocument({ size: 'A4' });
  for (const piece of pieces) {
    if (piece === 'new page') {
      document.addPage();
      continue;
    }
    const { text, size = 11, bold = false } = typeof piece === 'string' ? { text: piece } : piece;
    document
      .font(bold ? 'Helvetica-Bold' : 'Helvetica')
      .fontSize(size)
      .text(text)
      .moveDown(0.7);
  }
  document.end();
  return Buffer.concat(await document.toArray());
}

/** Each heading with its level, and the line of the text at its place. */
async function headingsOf(bytes: Buffer): Promise<string[]> {
  const { text, outline } = await readPdf(bytes);
  return outline.headings.map(({ level, title: own, start }) => {
    const [line = ''] = [...text].slice(start).join('').split('\n', 1);
    return `${level} ${own.startsWith(line) ? own : `${own} at ${line}`}`;
  });
}

describe('The headings of a PDF', () => {
  const paragraph = `${sentence} ${sentence}`;
  const chapter = (text: string): Piece => ({ text, size: 18, bold: true });
  const section = (text: string): Piece => ({ text, bold: true });

  it('are those of the sample handbook, with their levels', async () => {
    const expected = parts.flatMap((part) =>
      part.kind === 'chapter' ? [`2 ${part.text}`] : part.kind === 'section' ? [`3 ${part.text}`] : [],
    );
    expect(await headingsOf(readFileSync('docs/examples/samples/observatory-handbook.pdf'))).to.deep.equal([`1 ${title}`, ...expected]);
  });

  it('are larger than the text, or bold and apart, and may have several lines', async () => {
    const long = 'How the lamp is lit at dusk, what it is lit with, and who has to see to it that it burns through the night';
    const pieces = [chapter('One'), paragraph, section('1.1 The lamp'), paragraph, chapter('Two'), section(long), paragraph];
    expect(await headingsOf(await makeDocument(pieces))).to.deep.equal(['1 One', '2 1.1 The lamp', '1 Two', `2 ${long}`]);
  });

  it('have three levels at most', async () => {
    const sizes = [30, 26, 22, 18, 15];
    const pieces = sizes.flatMap((size) => [{ text: `Size ${'abcde'[sizes.indexOf(size)]}`, size }, paragraph, paragraph]);
    expect(await headingsOf(await makeDocument(pieces))).to.deep.equal(['1 Size a', '2 Size b', '3 Size c', '3 Size d', '3 Size e']);
  });

  it('are found by the size that is shown, whatever the font is set in', async () => {
    const line = (size: number, y: number, text: string) => `BT /F1 1 Tf ${size} 0 0 ${size} 50 ${y} Tm (${text}) Tj ET `;
    const lines = [0, 1, 2].map((at) => line(11, 660 - 16 * at, sentence.slice(0, 80))).join('');
    expect(await headingsOf(makePdf(line(20, 700, 'A scaled title') + lines))).to.deep.equal(['1 A scaled title']);
  });

  it('are not the labels of a form, rows of a table, sentences, stamps, or what has nothing beneath it', async () => {
    const form = ['Name', 'Institute', 'Nights', 'Lamp'].flatMap((label) => [section(label), 'An entry']);
    expect(await headingsOf(await makeDocument(form))).to.deep.equal([]);
    const said = [
      ...[section('Never open the inner door during an exposure.'), section('Note:'), { text: '42 %', size: 40 }],
      section('2 Telescopes . . . . . . . . 7'),
    ];
    expect(await headingsOf(await makeDocument(said.flatMap((one) => [paragraph, one, paragraph])))).to.deep.equal([]);
    expect(await headingsOf(await makeDocument([paragraph, paragraph, chapter('The end')]))).to.deep.equal([]);
    const turned = 'BT /F1 24 Tf 0 1 -1 0 30 200 Tm (Preprint of March) Tj ET ';
    const line = (y: number) => `BT /F1 11 Tf 50 ${y} Td (${sentence.slice(0, 80)}) Tj ET `;
    expect(await headingsOf(makePdf(turned + line(700) + line(686)))).to.deep.equal([]);
    const document = new PDFDocument({ size: 'A4' });
    document.font('Helvetica-Bold').fontSize(11);
    for (const [column, name] of ['Item', 'Article', 'Price'].entries()) document.text(name, 60 + 150 * column, 100, { lineBreak: false });
    document.font('Helvetica').text(`${paragraph} ${paragraph}`, 60, 130);
    document.end();
    expect(await headingsOf(Buffer.concat(await document.toArray()))).to.deep.equal([]);
  });

  it('are none where most of the text is set like them', async () => {
    const poster = [
      { text: 'Come one, come all', size: 40 },
      { text: 'to the lighting of the lamp', size: 30 },
      'Free entry for all on Sunday',
    ];
    expect(await headingsOf(await makeDocument(poster))).to.deep.equal([]);
  });

  it('stand where they are, not where an earlier page says the same', async () => {
    const pieces = [
      'The lamp',
      'The tower',
      paragraph,
      'new page',
      chapter('The lamp'),
      paragraph,
      chapter('The tower'),
      paragraph,
    ] as const;
    const { text, outline } = await readPdf(await makeDocument([...pieces]));
    const second = outline.page_starts?.[1] ?? 0;
    expect(outline.headings.map(({ start }) => start)).to.deep.equal([text.indexOf('The lamp', second), text.indexOf('The tower', second)]);
  });

  it('are found in time, however many there might be', async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => `/F1 ${10 + (index % 90) / 2} Tf 0 -1 Td (Title ${index % 7} x) Tj `);
    expect((await readPdf(makePdf(`BT /F1 10 Tf 50 790 Td ${many.join('')} ET`, 5))).outline.headings).to.deep.equal([]);
  });
});

describe('Two columns of a PDF that are drawn one after the other', () => {
  it('are read so', async () => {
    const document = new PDFDocument({ size: 'A4' });
    document
      .fontSize(10)
      .text(['Left', 'Right'].map((side) => Array.from({ length: 40 }, (_, at) => `${side}${at}`).join('\n')).join('\n'), {
        columns: 2,
        height: 520,
      });
    document.end();
    const { text } = await readPdf(Buffer.concat(await document.toArray()));
    expect(text.split('\n').filter(Boolean)).to.deep.equal(
      ['Left', 'Right'].flatMap((side) => Array.from({ length: 40 }, (_, at) => `${side}${at}`)),
    );
  });
});

describe('Two columns of a PDF that are drawn line by line', () => {
  const prose = parts.flatMap((part) => (part.kind === 'paragraph' ? [part.text] : [])).join(' ');
  const lines = wrap(prose, 40).slice(0, 40);
  const half = lines.length / 2;
  const rows = lines.slice(0, half).map((left, row) => [left, lines[half + row] ?? '']);

  /** Rows of cells, drawn one after the other at the given places, after a line across the page. */
  async function makeRows(cells: string[][], { across = '', places = [60, 305], offset = 0 } = {}): Promise<Buffer> {
    const document = new PDFDocument({ size: 'A4' });
    document.font('Times-Roman').fontSize(10.5);
    if (across !== '') document.text(across, 60, 50, { lineBreak: false });
    for (const [row, texts] of cells.entries())
      for (const [column, text] of texts.entries())
        document.text(text, places[column] ?? 0, 80 + 14 * row + column * offset, { lineBreak: false });
    document.end();
    return Buffer.concat(await document.toArray());
  }
  const linesOf = async (bytes: Buffer) => (await readPdf(bytes)).text.split('\n').filter(Boolean);

  it('are read one after the other, below what stands across both', async () => {
    const across = 'A title that stands across both of the columns, from the left to the right of the page';
    expect(await linesOf(await makeRows(rows, { across }))).to.deep.equal([across, ...lines]);
  });

  it('are read so if their lines do not stand at the same heights', async () => {
    expect(await linesOf(await makeRows(rows, { offset: 5 }))).to.deep.equal(lines);
  });

  it('have the words joined that their lines part', async () => {
    const parted = Array.from({ length: 12 }, (_, row) => [
      `${row === 0 ? 'The old' : 'vatory'} stands on a shoulder of ${row === 11 ? 'rock.' : 'an obser-'}`,
      `${row === 0 ? 'A small' : 'scope'} looks at lines of light, a ${row === 11 ? 'lot.' : 'tele-'}`,
    ]);
    const { text } = await readPdf(await makeRows(parted));
    expect(text.match(/\ban observatory stands/g)).to.have.length(11);
    expect(text.match(/\ba telescope looks/g)).to.have.length(11);
  });

  it('are no rows of a table, of terms and what they mean, or of a list with prices', async () => {
    const table = rows.map(([left = ''], row) => [`No. ${row + 10}`, left.slice(0, 12), left.slice(12, 24), `${row * 3}.50 EUR`]);
    const places = [60, 120, 305, 480];
    const joined = table.map((cells) => `| ${cells.map((cell) => cell.trim()).join(' | ')} |`);
    expect(await linesOf(await makeRows(table, { places }))).to.deep.equal(joined);
    const terms = rows.map(([left = '', right = ''], row) => [
      left
        .split(' ')
        .slice(0, 1 + (row % 2))
        .join(' '),
      right,
    ]);
    expect(await linesOf(await makeRows(terms))).to.deep.equal(terms.map((cells) => cells.join(' ')));
    const prices = rows.map(([left = ''], row) => [left, `${row}.20 EUR`]);
    expect(await linesOf(await makeRows(prices, { places: [60, 350] }))).to.deep.equal(prices.map((cells) => cells.join(' ')));
  });
});

describe('A page of a PDF on which the text lies on its side', () => {
  it('is read as if it were turned, from the first line to the last', async () => {
    const lines = ['The first line of a page that', 'was turned by mistake, or holds', 'what is wider than it is high.', 'The last line.'];
    for (const rotate of [0, 90, 180, 270])
      for (const drawn of [0, 90, 180, 270]) {
        const document = new PDFDocument({ size: [600, 600], margin: 0 });
        Object.assign(document.page.dictionary.data, { Rotate: rotate });
        document.fontSize(11).rotate(drawn, { origin: [300, 300] });
        for (const [row, line] of lines.entries()) document.text(line, 60, 100 + 14 * row, { lineBreak: false });
        document.end();
        expect((await readPdf(Buffer.concat(await document.toArray()))).text, `${rotate} ${drawn}`).to.equal(lines.join('\n'));
      }
  });
});

describe('Words of a PDF that line ends part', () => {
  const withHyphen = '/Encoding << /Type /Encoding /Differences [1 /uni2010] >>';
  const textOf = async (lines: string[]) => {
    const shown = lines.map((line, row) =>
      line === '' ? '' : `BT /F1 11 Tf 50 ${700 - 14 * row} Td (${line.replace(/‐$/, '\\001')}) Tj ET`,
    );
    return (await readPdf(makePdf(shown.join(' '), 1, withHyphen))).text;
  };
  const before = ['The first line of the paragraph is of words, none of', 'which are parted at all until its third line has'];
  const after = ['with a long word,', 'so that the paragraph goes on', 'and on to the last one', 'of its lines.'];

  it('are joined, whichever hyphen is written, and end no paragraph', async () => {
    for (const hyphen of ['-', '‐'])
      expect((await textOf([...before, `diffi${hyphen}`, 'culties', ...after])).split('\n')).to.deep.equal([
        ...before,
        'difficulties',
        ...after,
      ]);
  });

  it('keep a hyphen that a font takes for a soft one', async () => {
    const map = '1 begincodespacerange <00> <FF> endcodespacerange 2 beginbfrange <20> <2C> <0020> <2E> <7F> <002E> endbfrange';
    const objects = [stream('', `${map} 1 beginbfchar <2D> <00AD> endbfchar`)];
    const fonts = '/F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 10 0 R >>';
    const content = 'BT /F2 12 Tf 50 700 Td (1- 12 months at -5 degrees, call 555-0199) Tj ET';
    expect((await readPdf(makePdfOf({ content, fonts, objects }))).text).to.equal('1- 12 months at -5 degrees, call 555-0199');
  });

  it('keep a hyphen of their own: before a capital after a small letter, and before a number', async () => {
    const [word] = (await textOf(['An Anglo-', 'American view of COVID-', '19 and of its DEFINI-', 'TIONS'])).split('\n');
    expect(word).to.equal('An Anglo-American view of COVID-19 and of its DEFINITIONS');
  });
});

function wrap(text: string, width: number): string[] {
  return text.match(new RegExp(`\\S.{0,${width - 2}}\\S(?=\\s|$)`, 'g')) ?? [];
}
