import { expect } from 'chai';
import { makePdfOf, stream } from './support/make-pdf.ts';
import { read } from './support/read.ts';

const readPdf = (bytes: Buffer) => read(bytes, 'application/pdf');
const textOf = async (bytes: Buffer) => (await readPdf(bytes)).text;
const draw = (text: string, x: number, y: number, size = 12) => `BT /F1 ${size} Tf ${x} ${y} Td (${text}) Tj ET\n`;

/** Letters one by one, with so many points between them, and blanks of their usual width. */
function drawLetters(text: string, x: number, y: number, apart: number): string {
  let [content, at] = ['', x];
  for (const letter of text) {
    if (letter !== ' ') content += draw(letter, at, y);
    at += (letter === ' ' ? 3.3 : /[IJl]/.test(letter) ? 4 : 8) + apart;
  }
  return content;
}

describe('What a page of a PDF does not show', () => {
  it('is left out if it is of a layer that is off, by a mark, a form or a condition, and it is said', async () => {
    const form = (layer: number, text: string, y: number) =>
      stream(
        `/Type /XObject /Subtype /Form /BBox [0 0 600 800] /OC ${layer} 0 R /Resources << /Font << /F1 3 0 R >> >>`,
        draw(text, 50, y),
      );
    const pdf = makePdfOf({
      content: `${draw('Lease of a boathouse', 50, 740)}
        /OC /En BDC ${draw('It begins in March.', 50, 700)} EMC
        /OC /De BDC ${draw('Sie beginnt im', 50, 700)} ${draw('Monat Maerz.', 50, 686)} EMC
        /OC /Both BDC ${draw('Both languages', 50, 660)} EMC /X1 Do /X2 Do`,
      catalog: '/OCProperties << /OCGs [10 0 R 11 0 R] /D << /ON [10 0 R] /OFF [11 0 R] >> >>',
      resources: '/Properties << /En 10 0 R /De 11 0 R /Both 12 0 R >> /XObject << /X1 13 0 R /X2 14 0 R >>',
      objects: [
        '<< /Type /OCG /Name (English) >>',
        '<< /Type /OCG /Name (German) >>',
        '<< /Type /OCMD /OCGs [10 0 R 11 0 R] /P /AllOn >>',
        form(10, 'It ends in May.', 640),
        form(11, 'Sie endet im Mai.', 640),
      ],
    });
    const { text, notices } = await readPdf(pdf);
    expect(text.split(/\n+/)).to.deep.equal(['Lease of a boathouse', 'It begins in March.', 'It ends in May.']);
    expect(notices).to.deep.equal([{ code: 'layers_left_out', text: 'Page 1 has text in layers that are off, which was left out.' }]);
  });

  it('is left out if it is outside of the box that is shown: each half of a spread has its own', async () => {
    const rows = [0, 1, 2].map((row) => draw(`Left ${row} says`, 40, 700 - row * 20) + draw(`Right ${row} says`, 340, 700 - row * 20));
    const half = (box: string) => makePdfOf({ content: rows.join(''), page: `/CropBox [${box}]` });
    expect(await textOf(half('0 0 300 800'))).to.equal('Left 0 says\nLeft 1 says\nLeft 2 says');
    expect(await textOf(half('300 0 600 800'))).to.equal('Right 0 says\nRight 1 says\nRight 2 says');
    expect(await textOf(makePdfOf({ content: draw('slug line of the printer', 40, 820) + draw('The page', 40, 700) }))).to.equal(
      'The page',
    );
  });

  it('is left out if nobody sees it, and it is said: white on white, covered, clipped, invisible', async () => {
    const form = stream(
      '/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >>',
      `1 1 1 rg ${draw('white in a form', 50, 560)} 0 g ${draw('black in a form', 50, 540)}`,
    );
    const content = `0 0 1 rg 40 690 400 30 re f 1 1 1 rg ${draw('White on blue.', 50, 700)} ${draw('white on white', 50, 660)} 0 g
      ${draw('covered', 50, 640)} 1 g 40 635 300 20 re f 0 g q 0 0 10 10 re W n ${draw('clipped', 50, 620)} Q
      BT 3 Tr /F1 12 Tf 50 600 Td (invisible) Tj ET BT 0 Tr ET 0.6 g ${draw('Pale. - .', 50, 580, 8)} /X1 Do`;
    const { text, notices } = await readPdf(makePdfOf({ content, resources: '/XObject << /X1 10 0 R >>', objects: [form] }));
    expect(text.split(/\n+/)).to.deep.equal(['White on blue.', 'Pale. - .', 'black in a form']);
    expect(notices?.map(({ code }) => code)).to.deep.equal(['unseen_text_left_out']);
  });

  it('is read if it is invisible upon a picture of it, also a small one, and anywhere on a scan', async () => {
    const picture = stream(
      '/Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray /BitsPerComponent 8',
      '\x00\xf0\xf0\x00',
    );
    const layers = [
      ['300 0 0 400 150 200', '290 400'],
      ['600 0 0 800 0 0', '290 400'],
      // Where the scan is plain, such as at the edge of a letter that it shows faintly.
      ['600 0 0 800 0 0', '20 780'],
    ];
    for (const [size, place] of layers) {
      const content = `q ${size} cm /X1 Do Q BT 3 Tr /F1 12 Tf ${place} Td (What was recognized) Tj ET`;
      expect(await textOf(makePdfOf({ content, resources: '/XObject << /X1 10 0 R >>', objects: [picture] }))).to.equal(
        'What was recognized',
      );
    }
  });

  it('is only what nobody sees: small letters and signs that are drawn one by one, also on a huge page, stay', async () => {
    const rows = ['12,500.75 - Total', 'it is: i.e. 1.1, 0.5', "l'il - well; Ill."];
    const widths: Record<string, number> = { ' ': 278, i: 222, l: 222, I: 278, t: 278, '.': 278, ',': 278, '-': 333, ':': 278, ';': 278 };
    const place = (row: string, x: number, y: number, size: number) => {
      let at = x;
      return [...row].map((letter) => {
        const drawn = letter === ' ' ? '' : draw(letter, Math.round(at * 100) / 100, y, size);
        at += ((widths[letter] ?? (letter === "'" ? 191 : letter === 'w' ? 722 : 556)) * size) / 1000;
        return drawn;
      });
    };
    for (const box of ['0 0 595.28 841.89', '0 0 4000 5000'])
      for (const size of [8, 9, 10]) {
        const content = Array.from({ length: 24 }, (_, index) =>
          place(rows[index % 3] as string, 50 + index * 0.37, 780 - index * 26.3, size),
        );
        const { text, notices } = await readPdf(makePdfOf({ content: content.flat().join(''), page: `/MediaBox [${box}]` }));
        expect(notices ?? [], `${box}, ${size} points`).to.deep.equal([]);
        expect(new Set(text.split(/\n+/)), `${box}, ${size} points`).to.deep.equal(new Set(rows));
      }
  });

  it('is only what nobody sees: text in colours that are equally light, and lone blanks, stay', async () => {
    // Red and green as light as each other.
    const content = `0 0.5 0 rg 40 690 400 30 re f 0.98 0 0 rg ${draw('Red on green', 50, 700)} 0 g ${draw('Black', 50, 660)} ${draw(' ', 50, 640)}
      ${draw('Total', 50, 620)} ${draw(' ', 200, 620)} ${draw('7', 204, 620)}`;
    const { text, notices } = await readPdf(makePdfOf({ content }));
    expect(text.split(/\n+/)).to.deep.equal(['Red on green', 'Black', 'Total 7']);
    expect(notices ?? []).to.deep.equal([]);
  });

  it('leaves a run of words whole that reaches out of the page', async () => {
    expect(await textOf(makePdfOf({ content: draw('Checklist of the boathouse and its gravel drive', 500, 700) }))).to.match(
      /^Checklist of the boathouse and its gravel drive$/,
    );
  });
});

describe('Letters of a PDF that are drawn one upon the other, or one by one', () => {
  const lines = Array.from({ length: 14 }, (_, row) => `Row ${row} of a page that is drawn twice, aa 1100`);

  it('are there once if they are a bold or shaded copy, however much is drawn between', async () => {
    for (const [right, down] of [
      [0.5, 0],
      [0, 0.4],
      [1, 1],
    ] as const) {
      const content = lines.map((line, row) => draw(line, 50, 740 - 20 * row)).join('');
      const copy = lines.map((line, row) => draw(line, 50 + right, 740 - 20 * row - down)).join('');
      expect(await textOf(makePdfOf({ content: content + copy }))).to.equal(lines.join('\n'));
    }
  });

  it('are there once if a line repeats some of its words at their place', async () => {
    const words = ['Sum', 'of', 'all', 'items', 'before', 'tax', 'and', 'freight', 'costs', 'here'];
    const row = (shift: number) => words.map((word, index) => draw(word, 40 + 52 * index + shift, 700)).join('');
    expect(await textOf(makePdfOf({ content: row(0) + row(0.4) }))).to.equal(words.join(' '));
  });

  it('are there once in a cell that is drawn twice, with a blank and with the point upon it', async () => {
    const rows = [
      ['Bolt', '12', '1.9', '22.80'],
      ['Nut', '20', '0.4', '8.00'],
      ['Washer', '100', '0.1', '10.00'],
    ];
    const table = rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
    const cells = (change: (cell: string, x: number, y: number) => string) =>
      rows.flatMap((row, down) => row.map((cell, across) => change(cell, 60 + 110 * across, 700 - 18 * down))).join('');
    const pointed = (right: number) => (cell: string, x: number, y: number) => draw(cell, x + right, y);
    const blank = (cell: string, x: number, y: number) => draw(cell.replace('.', ' '), x, y);
    for (const right of [0, 0.3]) {
      const both = (cell: string, x: number, y: number) => blank(cell, x, y) + pointed(right)(cell, x, y);
      const turned = (cell: string, x: number, y: number) => pointed(right)(cell, x, y) + blank(cell, x, y);
      for (const content of [cells(both), cells(turned), cells(blank) + cells(pointed(right)), cells(pointed(right)) + cells(blank)])
        expect(await textOf(makePdfOf({ content }))).to.equal(table);
    }
  });

  it('are there twice if they are written twice', async () => {
    const content = draw('Yes', 50, 700) + draw('Yes', 90, 700) + draw('Yes', 50, 680);
    expect((await textOf(makePdfOf({ content }))).match(/Yes/g)).to.have.length(3);
  });

  it('are words if they are set wide apart, with blanks between words', async () => {
    const content = drawLetters('INVOICE NUMBER', 50, 740, 6) + drawLetters('MENU', 50, 700, 9) + drawLetters('Plan 2026', 50, 660, 4);
    expect((await textOf(makePdfOf({ content }))).split(/\n+/)).to.deep.equal(['INVOICE NUMBER', 'MENU', 'Plan 2026']);
  });

  it('have blanks between words, though the font takes these for tabs', async () => {
    const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 11 0 R >>';
    const map = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /P def /CMapType 2 def
1 begincodespacerange <00> <ff> endcodespacerange 2 beginbfrange <20> <20> <0009> <21> <7f> <0021> endbfrange endcmap end end`;
    const content = 'BT /F2 12 Tf 50 700 Td (We thank you for your order) Tj ET';
    const text = await textOf(makePdfOf({ content, fonts: '/F2 10 0 R', objects: [font, stream('', map)] }));
    expect(text).to.equal('We thank you for your order');
  });

  it('are apart from the number before if they are raised: powers and marks of notes', async () => {
    const raised = (before: string, digits: string, behind: string) =>
      `(${before}) Tj /F1 7 Tf 4 Ts (${digits}) Tj /F1 12 Tf 0 Ts (${behind}) Tj`;
    const content = `BT /F1 12 Tf 50 700 Td ${raised('About 10', '12', ' tons, or')} ${raised(' 1,234', '2', ' crates of 10')} ${raised('', '-6', ' g or 3 m')} ${raised('', '2', ' in 2019')} ET
BT /F1 12 Tf 50 660 Td (Water is H) Tj /F1 7 Tf -3 Ts (2) Tj /F1 12 Tf 0 Ts (O, log) Tj /F1 7 Tf -3 Ts (10) Tj /F1 12 Tf 0 Ts (5) Tj (7) Tj ET`;
    expect((await textOf(makePdfOf({ content }))).split(/\n+/)).to.deep.equal([
      'About 10^12 tons, or 1,234^2 crates of 10^-6 g or 3 m2 in 2019',
      'Water is H2O, log1057',
    ]);
  });

  it('are in one line with what they are raised beside, and with nothing that is far from it', async () => {
    const cents = (x: number, y: number) => draw('Plums', 50, 700) + draw('4', 200, 700, 24) + draw('99', x, y, 12);
    const price = async (content: string) => (await textOf(makePdfOf({ content }))).split(/\n+/);
    expect(await price(cents(214, 709))).to.deep.equal(['Plums', '4^99']);
    expect(await price(cents(214, 701))).to.deep.equal(['Plums', '499']);
    for (const [x, y] of [
      [240, 709],
      [150, 709],
      [214, 719],
      [214, 690],
    ] as const)
      expect(await price(cents(x, y)), `${x} ${y}`).to.deep.equal(['Plums', '4', '99']);
    const same = draw('Plums', 50, 700) + draw('4', 200, 700) + draw('99', 207, 706);
    expect(await price(same)).to.deep.equal(['Plums 4', '99']);
    const marked = (behind: string) => draw('Notes', 50, 700) + draw('99', 200, 709, 12) + draw(behind, 214, 700, 24);
    expect(await price(marked('4'))).to.deep.equal(['Notes', '99', '4']);
    expect(await price(marked('h'))).to.deep.equal(['Notes', '99h']);
    const words = draw('Price', 50, 700, 40) + draw('EUR', 160, 720, 10);
    expect((await price(words)).join(' ')).to.equal('Price EUR');
    const columns = [0, 1, 2].map((row) => {
      const y = 700 - 20 * row;
      return draw(`Hive ${row}`, 50, y) + draw(`1,23${row}`, 200, y) + draw('2', 231, y + 4, 7);
    });
    expect(await price(columns.join(''))).to.deep.equal(['| Hive 0 | 1,230^2 |', '| Hive 1 | 1,231^2 |', '| Hive 2 | 1,232^2 |']);
  });

  it('stay apart if they are far below others, but for words that go downwards', async () => {
    const places = {
      'Elm tree': [197, 700],
      Oak: [390, 700],
      '*': [396, 670],
      Fir: [214, 640],
      '+': [390, 640],
      2: [56, 610],
      3: [197, 610],
      1: [56, 580],
    };
    const signs = Object.entries(places).map(([sign, [x = 0, y = 0]]) => draw(sign, x, y));
    const downwards = ['Ash', 'a', 'Yew', 'b'].map((word, place) => `BT /F1 12 Tf 0 -1 1 0 30 ${700 - 40 * place} Tm (${word}) Tj ET\n`);
    const content = [...downwards, ...signs].join('');
    const lines = (await textOf(makePdfOf({ content }))).split(/\n+/);
    expect(lines).to.include.members(['Ash a Yew b', 'Elm tree Oak', '*']);
  });

  it('stay apart if blanks are written, in columns, and if they are numbers of places', async () => {
    const columns = ['A', 'B', 'C', 'D'].map((letter, index) => draw(letter, 50 + 40 * index, 660)).join('');
    const content = draw('Choose A B C D or E', 50, 740) + drawLetters('1 2 3 4 5', 50, 700, 6) + columns;
    expect((await textOf(makePdfOf({ content }))).split(/\n+/)).to.deep.equal(['Choose A B C D or E', '1 2 3 4 5', 'A B C D']);
  });
});
