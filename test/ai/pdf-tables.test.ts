import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import PDFDocument from 'pdfkit';
import type { Line } from '../../ai/formats/pdf/page-line.ts';
import { joinTables } from '../../ai/formats/pdf/pdf-tables.ts';
import { parts } from '../../docs/examples/samples/handbook.ts';
import { cutChunks } from '../../domain/chunking/cut-chunks.ts';
import { processorSeconds } from '../support/hostile-texts.ts';
import { makePdf } from './support/make-pdf.ts';
import { read } from './support/read.ts';

const readPdf = (bytes: Buffer) => read(bytes, 'application/pdf');

/** What a page shows: a text at a place from the upper left corner, or one that ends there. */
interface Piece {
  text: string;
  x: number;
  y: number;
  endsThere?: boolean;
}

async function draw(pieces: Piece[], { size = 10, font = 'Helvetica' } = {}): Promise<Buffer> {
  const document = new PDFDocument({ size: [600, 800], margin: 0 });
  document.font(font).fontSize(size);
  for (const { text, x, y, endsThere } of pieces)
    document.text(text, endsThere ? x - document.widthOfString(text) : x, y, { lineBreak: false });
  document.end();
  return Buffer.concat(await document.toArray());
}

const textOf = async (pieces: Piece[], options = {}) => (await readPdf(await draw(pieces, options))).text;

/** Rows below each other; the last column ends at its place. */
function rowsAt(rows: string[][], { places = [60, 200, 400], y = 100, step = 16 } = {}): Piece[] {
  return rows.flatMap((cells, row) =>
    cells.map((text, column) => ({
      text,
      x: places[column] ?? 0,
      y: y + row * step,
      endsThere: column > 0 && column === cells.length - 1,
    })),
  );
}

/** Rows of cells with lines of text around each, and texts of several lines in them, which are parted by `/`. */
async function drawGrid(rows: string[][], { places = [60, 200, 400, 540], step = 12 } = {}): Promise<string> {
  const document = new PDFDocument({ size: [600, 800], margin: 0 });
  document.fontSize(10);
  let top = 100;
  for (const cells of rows) {
    const height = step * Math.max(...cells.map((cell) => cell.split('/').length)) + 6;
    for (const [column, cell] of cells.entries()) {
      const [left = 0, right = 0] = places.slice(column);
      document.rect(left, top, right - left, height).stroke();
      for (const [line, text] of cell.split('/').entries()) document.text(text, left + 2, top + 4 + line * step, { lineBreak: false });
    }
    top += height;
  }
  document.end();
  return (await readPdf(Buffer.concat(await document.toArray()))).text;
}

const goods = [
  ['Article', 'Colour', 'Price'],
  ['Manila rope', 'brown', '4.50'],
  ['Tar', 'black', '1,240.00'],
  ['Lamp oil', 'clear', '12.75'],
];
const markdown = (rows: string[][]) => rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** A line whose parts, each `ab`, begin at these places. */
function lineOf(y: number, places: number[]): Line {
  const parts = places.map((x) => ({ text: 'ab', x, right: x + 10, y, blanks: [] }));
  return {
    text: places.map(() => 'ab').join(' '),
    x: places[0] ?? 0,
    y,
    size: 10,
    bold: false,
    upright: true,
    gapped: places.length > 1,
    parts,
  };
}

describe('A table of a PDF', () => {
  it('is rows of Markdown, apart from what is around it', async () => {
    const around = (y: number) => ({ text: 'Goods that were left at the quay in the first week of March', x: 60, y });
    expect(await textOf([around(80), ...rowsAt(goods), around(164)])).to.equal(
      [around(0).text, markdown(goods), around(0).text].join('\n\n'),
    );
  });

  it('is that of the sample handbook, one cell of which has two lines, and one nearly fills its column', async () => {
    const { text } = await readPdf(readFileSync('docs/examples/samples/observatory-handbook.pdf'));
    const tables = parts.flatMap((part) => (part.kind === 'table' ? [part.rows] : []));
    expect(tables).to.have.length(1);
    for (const rows of tables) expect(text).to.contain(`\n\n${markdown(rows)}\n\n`);
  });

  it('has its head, also if two names of it stand near each other', async () => {
    const heads = ['Article', 'Kept in the dry', 'Price, EUR'].map((text, column) => ({ text, x: [60, 200, 275][column] ?? 0, y: 84 }));
    const body = rowsAt(goods.slice(1), { places: [60, 200, 320] });
    expect(await textOf([...heads, ...body])).to.equal(markdown([heads.map(({ text }) => text), ...goods.slice(1)]));
  });

  it('has its head over the middle of wide columns, each name in its column', async () => {
    const body = rowsAt(
      goods.slice(1).map(([name = '', colour = '']) => [name, colour, '']),
      { places: [60, 300, 560], y: 116 },
    );
    const head = [
      { text: 'Article', x: 165, y: 100 },
      { text: 'Colour', x: 405, y: 100 },
    ];
    const rows = goods.map(([name = '', colour = '']) => [name, colour]);
    expect(await textOf([...head, ...body.filter(({ text }) => text !== '')])).to.equal(markdown(rows));
  });

  it('has cells in the middle of their rows, as browsers print them', async () => {
    const rows = [
      ['Article', 'Hours', 'Price', 'Remark'],
      ['Harbour|Works', '92', '40.88|EUR', 'for eighteen months,|day and|night'],
      ['Old Mill', '865', '61.90|EUR', '37 %'],
      ['Night|watch', '42', '8.50|EUR', 'none'],
      ['Lamp|oil|clear', '7', '12.75', 'none'],
    ];
    const cellsAt = (cells: string[], middle: number): Piece[] =>
      cells.flatMap((cell, column) => {
        const lines = cell.split('|');
        return lines.map((text, line) => ({ text, x: [60, 140, 200, 280][column] ?? 0, y: middle + (line - (lines.length - 1) / 2) * 12 }));
      });
    const pieces = rows.flatMap((cells, row) => cellsAt(cells, [100, 135, 180, 220, 270][row] ?? 0));
    expect(await textOf(pieces)).to.equal(markdown(rows.map((cells) => cells.map((cell) => cell.replaceAll('|', ' ')))));
  });

  it('has its rows if they begin with one sign, and no line of the page is filled', async () => {
    const rows = [['No', 'Name', 'Kilograms'], ...Array.from({ length: 12 }, (_, row) => [`${row}`, `Hive ${row}`, `${row * 1.5 + 2}`])];
    for (const step of [12, 18, 30]) expect(await textOf(rowsAt(rows, { step }))).to.equal(markdown(rows));
    const ticks = rows.map((cells, row) => ['•', ...cells, row % 2 ? 'x' : '+']);
    const places = [40, 60, 200, 350, 500];
    expect(await textOf(rowsAt(ticks, { places }))).to.equal(markdown(ticks));
  });

  it('keeps cells that are empty, and escapes strokes', async () => {
    const rows = [...goods, ['Rope | tar', '', '7.00']];
    expect(await textOf(rowsAt(rows).filter(({ text }) => text !== ''))).to.equal(markdown([...goods, ['Rope \\| tar', '', '7.00']]));
  });

  it('has a column that one row alone fills, not in line with its name, and rows of a name and a sum', async () => {
    const rows = [
      ['Physician', '', 'City', 'Amount'],
      ['Aaron, Caren', '', 'Richmond', '392.45'],
      ['Total', '', '', '392.45'],
      ['Abad, Joshua', 'Regional Medicine', 'Baltimore', '310.33'],
      ['Total', '', '', '310.33'],
      ['Aasheim, Ida', '', 'Greeneville', '2.27'],
    ];
    const name = { text: 'Entity', x: 200, y: 100 };
    const [first, ...others] = rowsAt(rows, { places: [60, 160, 280, 450] }).filter(({ text }) => text !== '') as [Piece, ...Piece[]];
    const text = await textOf([first, name, ...others]);
    expect(text).to.equal(markdown(rows.with(0, ['Physician', 'Entity', 'City', 'Amount'])));
  });

  it('has cells of several lines joined: if they are drawn one by one, if rows are further apart, or if it is text alone', async () => {
    const wanted = markdown([['Article', 'Colour', 'Price'], ['Rope', 'brown and black', '4.50'], ...goods.slice(2)]);
    const tall = (y: number, step: number) => [
      ...rowsAt(goods.slice(0, 1), { y }),
      { text: 'Rope', x: 60, y: y + step },
      { text: 'brown', x: 200, y: y + step },
      { text: 'and black', x: 200, y: y + step + 12 },
      { text: '4.50', x: 400, y: y + step, endsThere: true },
      ...rowsAt(goods.slice(2), { y: y + 2 * step + 12, step }),
    ];
    expect(await textOf(tall(100, 12)), 'one by one').to.equal(wanted);
    const inLines = (step: number) => tall(100, step).sort((one, other) => one.y - other.y);
    expect(await textOf(inLines(20)), 'further apart').to.equal(wanted);
    expect(await textOf(inLines(12)), 'text alone').to.equal(wanted);
  });

  it('has a row of its own for what fills some columns but is no further text', async () => {
    const rows = [...goods, ['', 'Total', '1,257.25'], ['Paid', 'cash', '0.00']];
    expect(await textOf(rowsAt(rows, { step: 12 }).filter(({ text }) => text !== ''))).to.equal(markdown(rows));
  });

  it('has the titles of its groups, which fill no other column', async () => {
    const long = ['Timber that was landed at the old quay in May', '', ''];
    const groups = [...goods, long, ['Oak', 'brown', '30.00'], ['Sails', '', ''], ['Ash', 'pale', '21.50'], ['  Linen', 'white', '8.00']];
    const drawn = rowsAt(groups).filter(({ text }) => text !== '');
    expect(await textOf(drawn)).to.equal(markdown(groups.map((cells) => cells.map((cell) => cell.trim()))));
  });

  it('ends before text, and another one begins behind it', async () => {
    const lines = ['The prices of May are in force until the', 'end of the year, and are binding for', 'orders from both of the harbours'];
    const text = lines.map((line, row) => ({ text: line, x: 60, y: 164 + row * 16 }));
    const found = await textOf([...rowsAt(goods), ...text, ...rowsAt(goods, { y: 212 })]);
    expect(found).to.equal([markdown(goods), lines.join('\n'), markdown(goods)].join('\n\n'));
  });

  it('has leaders between the titles of its rows and several numbers', async () => {
    const rows = ['1.00', '2.00', '3.00'].map((size) => [size, '800', '1,040', '1,280']);
    const led = rows.map(([size, ...numbers]) => [`${size} ..............`, ...numbers]);
    expect(await textOf(rowsAt(led, { places: [60, 200, 300, 400] }))).to.equal(markdown(rows));
  });

  it('has its rows if it is drawn column by column, or a number behind the next row', async () => {
    const all = rowsAt(goods.slice(1).map(([name = '', , price = '']) => [name, price, price]));
    const byColumn = [0, 1, 2].flatMap((column) => all.filter((_, index) => index % 3 === column));
    const rows = goods.slice(1).map(([name = '', , price = '']) => [name, price, price]);
    expect(await textOf(byColumn)).to.equal(markdown(rows));
    const late = [...all.slice(0, 2), ...all.slice(3, 6), all[2] as Piece, ...all.slice(6)];
    expect(await textOf(late)).to.equal(markdown(rows));
  });

  it('has a number for each column, also if those of one row are wider and stand close', async () => {
    const rows = [...['80', '88', '96'].map((one) => ['Rope', one, one]), ['Tar', '1,040', '1,120']];
    const ending = rowsAt(rows, { places: [60, 200, 232] }).map((piece, at) => ({ ...piece, endsThere: at % 3 > 0 }));
    expect(await textOf(ending)).to.equal(markdown(rows));
  });

  it('has no numbers that are joined: two of them are two cells', async () => {
    const rows = [
      ['Isle of the north', '80,000'],
      ['All isles together', '1,190,000'],
      ['Mainland', '7'],
    ];
    const close = rowsAt(rows, { places: [60, 200], step: 11 });
    const byCell = [0, 2, 1, 3, 4, 5].map((index) => close[index] as Piece);
    expect(await textOf(byCell)).to.equal(markdown(rows));
  });

  it('stands in one column of a paper without its other one', async () => {
    const prose = parts.flatMap((part) => (part.kind === 'paragraph' ? [part.text] : [])).join(' ');
    const lines = prose.match(/\S.{0,45}\S(?=\s|$)/g) ?? [];
    const column = (x: number, from: number, count: number, y: number) =>
      lines.slice(from, from + count).map((text, row) => ({ text, x, y: y + 14 * row }));
    const table = rowsAt(goods, { places: [60, 150, 270], y: 260, step: 14 });
    const pieces = [...column(60, 0, 10, 100), ...table, ...column(60, 10, 10, 340), ...column(310, 20, 25, 100)];
    const text = await textOf(pieces);
    expect(text).to.contain(`\n\n${markdown(goods)}\n\n`);
    expect(text.replace(markdown(goods), '').split('\n').filter(Boolean)).to.deep.equal(lines.slice(0, 45));
  });

  it('stands at the end of a column, and the next one begins above it', async () => {
    const table = rowsAt(goods, { places: [60, 150, 260], y: 700 });
    const column = ['Ropes are sold by the metre.', 'Tar is sold by the barrel, which', 'is left at the gate.'];
    const text = await textOf([...table, ...column.map((line, row) => ({ text: line, x: 320, y: 100 + row * 12 }))]);
    expect(text).to.contain(markdown(goods));
  });

  it('is found on pages that are turned by the PDF, and paragraphs are', async () => {
    const paragraph = { text: 'Goods that were left at the quay in the first week of March', x: 60, y: 220 };
    const pieces: Piece[] = [...rowsAt(goods), paragraph, { ...paragraph, y: 234 }, { ...paragraph, y: 270 }];
    const expected = `${markdown(goods)}\n\n${paragraph.text}\n${paragraph.text}\n\n${paragraph.text}`;
    for (const turns of [1, 2, 3]) {
      const document = new PDFDocument({ size: [600, 600], margin: 0 });
      Object.assign(document.page.dictionary.data, { Rotate: 90 * turns });
      document.fontSize(10).rotate(-90 * turns, { origin: [300, 300] });
      for (const { text, x, y, endsThere } of pieces)
        document.text(text, endsThere ? x - document.widthOfString(text) : x, y, { lineBreak: false });
      document.end();
      expect((await readPdf(Buffer.concat(await document.toArray()))).text, `${turns}`).to.equal(expected);
    }
  });

  it('has the cells that lines are drawn around: one that fills its column, and texts of several lines', async () => {
    const narrow = [...goods, ['Braided manila rope', 'brown', '3.10'], ['Oil', 'clear', '1.75']];
    expect(await drawGrid(narrow, { places: [60, 152.5, 300, 400] })).to.equal(markdown(narrow));
    const long = [
      ['Case', 'What was done'],
      ['Flood at the quay', 'The gate was closed at noon, and/the lower store was emptied by/hand, since the crane had no power.'],
      ['Loss of a rope/and of two lamps', 'Nobody has seen them since'],
      ['Fire', 'Tar had been left beside the stove/overnight.'],
    ];
    const joined = long.map((cells) => cells.map((cell) => cell.replaceAll('/', ' ')));
    expect(await drawGrid(long, { places: [60, 160, 330] })).to.equal(markdown(joined));
  });

  it('is none where boxes of a diagram stand in a column of their own', async () => {
    const boxes = [
      ['ON table name', ''],
      ['Names the permission', ''],
      ['FOR ROWS', 'condition'],
      ['ENABLE', ''],
      ['DISABLE', ''],
    ];
    expect(await drawGrid(boxes)).to.not.include('|');
  });

  it('is found where it lies on its side behind an upright number of the page and blanks that are far apart', async () => {
    const number = 'BT /F1 1 Tf 10 0 0 10 301 42 Tm (54) Tj ET BT /F1 1 Tf 0 11 -11 0 68 78 Tm ( ) Tj 18 0 Td [( )-2726( )-2726( )] TJ ET';
    const cells = rowsAt(goods).map(({ text, x, y }) => `BT /F1 1 Tf 0 8 -8 0 ${y} ${x} Tm (${text} ) Tj ET`);
    const { text } = await readPdf(makePdf([number, ...cells].join(' ')));
    expect(text).to.equal(`54\n\n${markdown(goods)}`);
  });

  it('is not divided by chunks, which know its first row', async () => {
    const rows = [
      goods[0] ?? [],
      ...Array.from({ length: 40 }, (_, row) => [`Article ${row} of the inventory`, `colour ${row}`, `${row}.50`]),
    ];
    const { text, characters, outline } = await readPdf(await draw(rowsAt(rows)));
    const chunks = cutChunks(text, { characters, pages: outline.page_starts, headings: [] }, { contentType: 'application/pdf' });
    expect(chunks).to.have.length.above(1);
    for (const chunk of chunks) {
      for (const line of chunk.embedded.split('\n')) expect(line).to.match(/^\| .* \| .* \| .* \|$/);
      expect(chunk.embedded).to.match(/^\| Article \| Colour \| Price \|/);
    }
  });

  it('leaves the places of pages and headings as they are', async () => {
    const document = new PDFDocument({ size: 'A4' });
    const sentence = 'The observatory stands on the eastern shoulder of the mountain, and its lamp is lit every night of the year. ';
    for (const name of ['First', 'Second']) {
      if (name === 'Second') document.addPage();
      document.fontSize(18).text(`${name} list`).fontSize(10).text(sentence.repeat(4)).moveDown();
      document.table({ data: goods }).moveDown();
      document.text(sentence.repeat(3), 72);
    }
    document.end();
    const { text, outline } = await readPdf(Buffer.concat(await document.toArray()));
    expect(text.split(markdown(goods))).to.have.length(3);
    expect(outline.page_starts?.map((start) => text.slice(start).split('\n', 1)[0])).to.deep.equal(['First list', 'Second list']);
    expect(outline.headings.map(({ start, title }) => [start, title])).to.deep.equal([
      [0, 'First list'],
      [text.indexOf('Second list'), 'Second list'],
    ]);
  });
});

describe('No table of a PDF', () => {
  const untouched = async (rows: string[][], options: Parameters<typeof rowsAt>[1] = {}) => {
    const text = await textOf(rowsAt(rows, options).map((piece) => ({ ...piece, endsThere: false })));
    expect(text.split('\n').filter(Boolean)).to.deep.equal(rows.map((cells) => cells.join(' ')));
  };

  it('are two rows, such as a label or two of a form', async () => {
    await untouched(goods.slice(0, 2));
    await untouched([
      ['Family name', 'Quist'],
      ['Institute', 'Korvid Ridge'],
    ]);
  });

  it('are points of a list, or numbered ones', async () => {
    const words = ['one short point', 'another point that is longer', 'a third one'];
    for (const mark of [() => '•', (row: number) => `${row + 1}.`, (row: number) => `(${'abc'[row]})`, () => '+'])
      await untouched(
        words.map((text, row) => [mark(row), text]),
        { places: [60, 84] },
      );
  });

  it('are contents with leaders', async () => {
    await untouched(
      ['Getting there', 'Telescopes', 'The spectrograph'].map((title, row) => [
        String(row + 1),
        `${title} ${'. '.repeat(20)}.`,
        `${row * 4 + 1}`,
      ]),
      { places: [60, 84, 290] },
    );
  });

  it('are lines of text with wide blanks, also if some of them are below each other', async () => {
    const lines = [
      'It was founded in | the year of the comet',
      'by a cooperative of | nine small universities',
      'none of them claims | more than a fifth of it',
    ];
    const document = new PDFDocument({ size: [600, 800], margin: 0 });
    document.fontSize(10);
    for (const [row, line] of lines.entries()) {
      const [left = '', right = ''] = line.split(' | ');
      document.text(left, 60, 100 + 14 * row, { lineBreak: false });
      document.text(right, 280 - document.widthOfString(right), 100 + 14 * row, { lineBreak: false });
    }
    document.end();
    expect((await readPdf(Buffer.concat(await document.toArray()))).text).to.equal(lines.join('\n').replaceAll(' | ', ' '));
  });

  it('are numbered lines', async () => {
    const lines = [
      'The observatory stands on the shoulder of',
      'the mountain, and its lamp is lit every',
      'night of the year, but not in the winter,',
    ];
    await untouched(
      lines.map((text, row) => [String(row + 1), text]),
      { places: [60, 90] },
    );
  });

  it('are two addresses beside each other', async () => {
    const [left, right] = [
      ['Quay & Sons', 'Harbour Lane 3', 'Oldwick', 'Norland'],
      ['Ines Halloran', 'Ridge Road 77', 'Tarn Bridge', 'Norland'],
    ];
    const block = (lines: string[] = [], x: number) => lines.map((text, row) => ({ text, x, y: 100 + 14 * row }));
    expect(await textOf([...block(left, 60), ...block(right, 350)])).to.equal([...(left ?? []), ...(right ?? [])].join('\n'));
  });
});

describe('Tables of a PDF', () => {
  const wordsOf = (lines: Line[]) =>
    lines
      .flatMap(({ text, table }) => (table ? text.replace(/(?<!\\)\|/g, ' ').replaceAll('\\|', '|') : text).split(/\s+/))
      .filter(Boolean)
      .sort();

  it('neither lose nor double a word of parts that stand anywhere', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    let rows = 0;
    for (let page = 0; page < 400; page += 1) {
      const lines = Array.from({ length: 3 + random(20) }, (_, index): Line => {
        const y = 700 - 12 * (index - random(3));
        const own = Array.from({ length: 1 + random(4) }, (_, column) => `w${index}x${column}${random(3) === 0 ? ' y|z' : ''}`);
        const parts = own.map((text, column) => {
          const x = 60 + 100 * (column + (random(12) === 0 ? 1 : 0)) + random(3);
          const blanks = text.includes(' ') ? [{ at: text.indexOf(' ') + 1, right: x + 95, x: x + 100 }] : [];
          return { text, x, right: x + (blanks.length > 0 ? 130 : 20 + random(70)), y, blanks };
        });
        return { text: own.join(' '), x: parts[0]?.x, y, size: 10, bold: false, upright: true, gapped: true, parts };
      });
      const joined = joinTables(lines);
      rows += joined.filter(({ table }) => table).length;
      expect(wordsOf(joined)).to.deep.equal(wordsOf(lines));
    }
    expect(rows).to.be.above(50);
  });

  it('are looked for in time, whatever a page is made of', async () => {
    const show = (x: number, y: number, text: string) => `1 0 0 1 ${x} ${y} Tm (${text}) Tj `;
    const page = (draw: (row: number) => string, rows: number) =>
      makePdf(`BT /F1 2 Tf ${Array.from({ length: rows }, (_, row) => draw(row)).join('')} ET`);
    const pages = [
      page((row) => show(10, 790 - row * 0.8, 'ab') + (row % 2 === 0 ? show(100, 790 - row * 0.8, 'cd') : ''), 950),
      page((row) => show(10 + (row % 40) * 14, 790 - Math.floor(row / 40) * 4, 'a'), 8_000),
      page((row) => show(10, 790 - row * 0.1, 'ab') + show(100, 790 - row * 0.1, 'cd'), 8_000),
    ];
    for (const [index, bytes] of pages.entries()) {
      const seconds = await processorSeconds(() => readPdf(bytes));
      expect(seconds, `page ${index}`).to.be.below(2);
    }
    // Each second line might begin a table, and each of these would have all lines below it looked at.
    const lines = Array.from({ length: 20_000 }, (_, row): Line => {
      const y = -3 * row;
      const parts = [10, 100].slice(row % 2).map((x) => ({ text: 'ab', x, right: x + 5, y, blanks: [] }));
      return { text: 'ab', x: 10, y, size: 2, bold: false, upright: true, gapped: true, parts };
    });
    expect(await processorSeconds(() => joinTables(lines))).to.be.below(1);
    const many = Array.from({ length: 1_000 }, (_, row) =>
      lineOf(
        -3 * row,
        Array.from({ length: row % 2 ? 1 : 40 }, (__, at) => 14 * at),
      ),
    );
    expect(await processorSeconds(() => joinTables(many))).to.be.below(1);
    // Each fourth line has columns of its own, and the others might be titles below it.
    const growing = Array.from({ length: 1_000 }, (_, row) =>
      lineOf(-3 * row, [0, ...Array.from({ length: row % 4 ? 0 : 8 }, (__, at) => 100 + 20 * (8 * row + at))]),
    );
    expect(await processorSeconds(() => joinTables(growing))).to.be.below(2);
  });

  it('are looked for in time among very many drawn lines', async () => {
    const lines = Array.from({ length: 8_000 }, (_, n) => {
      const [at, end] = [n % 590, 700 + Math.floor(n / 590) * 5];
      return `${at} 0 m ${at} ${end} l 0 ${at} m ${end - 200} ${at} l`;
    });
    const words = Array.from({ length: 500 }, (_, n) => `BT /F1 8 Tf 10 ${790 - n * 1.5} Td (a${n} b c d) Tj ET`);
    expect(await processorSeconds(() => readPdf(makePdf([...lines, 'S', ...words].join(' '))))).to.be.below(2);
  });

  it('has each word of its head once, whatever their order is in what is drawn', () => {
    const rows = [685, 670, 655].map((y) => lineOf(y, [60, 200, 400]));
    const blanks = [
      { at: 4, right: 391, x: 399 },
      { at: 8, right: 192, x: 199 },
    ];
    const text = 'one two three';
    const head = { ...lineOf(700, []), text, parts: [{ text, x: 60, right: 430, y: 700, blanks }] };
    const words = joinTables([head, ...rows]).flatMap((line) => line.text.match(/one|two|three/g) ?? []);
    expect(words).to.have.members(['one', 'two', 'three']);
  });
});
