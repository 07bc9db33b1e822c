import { expect } from 'chai';
import type { Grey } from '../../ai/recognition/engine.ts';
import { findLines } from '../../ai/recognition/find-lines.ts';
import { layOutPage } from '../../ai/recognition/lay-out-lines.ts';
import type { Model, Models } from '../../ai/recognition/models.ts';
import { type PageReaders, readPage } from '../../ai/recognition/read-page.ts';
import { nightly } from '../support/nightly.ts';

/** The highest picture, and the widest, that Tesseract takes. */
const mostOfTesseract = 32_767;
const [side, step] = [736, 11];

function model(run: (width: number, height: number) => { data: Float32Array; dims: number[] }): Model {
  const ask = async ({ x }: { x: { dims: number[] } }) => ({ y: run(x.dims[3] as number, x.dims[2] as number) });
  return { inputNames: ['x'], run: ask } as unknown as Model;
}

/** Readers for which a page has so many lines, each a letter: `a` to one, and `b`, more surely, to Tesseract. */
function readersOf(lines: number): { readers: PageReaders; pictures: Grey[] } {
  const pictures: Grey[] = [];
  const detector = model((width, height) => {
    const data = new Float32Array(width * height);
    const across = Math.floor(width / step);
    for (let line = 0; line < lines; line += 1)
      for (let y = 0; y < 4; y += 1) {
        const start = (Math.floor(line / across) * step + 4 + y) * width + (line % across) * step + 3;
        data.fill(1, start, start + 5);
      }
    return { data, dims: [1, 1, height, width] };
  });
  const models: Models = {
    detector,
    direction: model(() => ({ data: Float32Array.of(1, 0), dims: [1, 2] })),
    recognizer: model(() => ({ data: Float32Array.of(0, 0.5, 0), dims: [1, 1, 3] })),
    characters: ['', 'a', ' '],
  };
  const recognize = async (picture: Grey) => {
    pictures.push(picture);
    const rows = Math.floor(picture.height / 72);
    return Array.from({ length: rows }, (_, row) => {
      return { text: 'b', confidence: 99, left: 24, right: 48, top: 24 + 72 * row, bottom: 72 + 72 * row };
    });
  };
  return { readers: { models, tesseract: { recognize }, languages: ['deu'] }, pictures };
}

const page = { data: new Uint8Array(side * side * 3).fill(255), width: side, height: side };

describe('A picture with very many lines', () => {
  it('is read whole, by Tesseract in pictures that it takes', async () => {
    const { readers, pictures } = readersOf(1_500);
    const { text, notices } = await readPage(page, readers);
    expect(text.match(/b/g)).to.have.length(1_500);
    expect(notices).to.deep.equal([]);
    for (const { width, height } of pictures) expect(Math.max(width, height)).to.be.below(mostOfTesseract);
  });

  nightly('says so if it has more than are read', async () => {
    const { text, notices } = await readPage(page, readersOf(3_001).readers);
    expect(text.match(/b/g)).to.have.length(3_000);
    expect(notices).to.deep.equal(['unsure_text_left_out']);
  });
});

it('A line that is very long is shown to Tesseract in a picture that it takes', async () => {
  const { readers, pictures } = readersOf(0);
  const [width, height] = [20_000, 40];
  readers.models.detector = model((wide, high) => {
    const data = new Float32Array(wide * high);
    for (let y = 30; y < 34; y += 1) data.fill(1, y * wide + 8, (y + 1) * wide - 8);
    return { data, dims: [1, 1, high, wide] };
  });
  await readPage({ data: new Uint8Array(width * height * 3).fill(255), width, height }, readers);
  expect(pictures).to.have.length(1);
  expect(pictures[0]?.width).to.be.below(mostOfTesseract);
});

it('A picture that is very thin is not made many times as large to find lines in it', async () => {
  for (const [width, height] of [
    [40_000, 1],
    [2, 30_000],
    [5_000, 8],
    [736, 736],
  ] as const) {
    let seen = 0;
    const detector = model((wide, high) => {
      seen = wide * high;
      return { data: new Float32Array(seen), dims: [1, 1, high, wide] };
    });
    await findLines({ data: new Uint8Array(width * height * 3), width, height }, detector);
    expect(seen, `${width} by ${height}`).to.be.below(5_000_000);
  }
});

/** What is read of three marks that the recognizer takes for a character, so surely, and Tesseract for `a`. */
async function readMarks(character: string, sure: number): Promise<{ read: string; notices: string[]; confidence: number | null }> {
  const { readers } = readersOf(3);
  const a = { text: 'a', confidence: 99, left: 24, right: 48, top: 24, bottom: 72 };
  Object.assign(readers, { languages: ['eng'], tesseract: { recognize: async () => (character === '' ? [a] : []) } });
  Object.assign(readers.models, {
    recognizer: model(() => ({ data: character === '' ? Float32Array.of(1, 0, 0) : Float32Array.of(0, sure, 0), dims: [1, 1, 3] })),
    characters: ['', character, ' '],
  });
  const { text, ...rest } = await readPage(page, readers);
  return { read: text.replace(/[\s|]/g, ''), notices: rest.notices, confidence: rest.confidence };
}

it('Signs that stand alone, and characters without a word, are kept where they are read surely, and else a notice says that they were left out', async () => {
  for (const character of ['+', '米']) {
    expect(await readMarks(character, 0.95), character).to.deep.include({ read: character.repeat(3), notices: [] });
    expect(await readMarks(character, 0.5), character).to.deep.include({ read: '', notices: ['unsure_text_left_out'] });
  }
  expect(await readMarks('7', 0.5)).to.deep.include({ read: '777', notices: ['unsure_text'] });
});

it('A page of which the recognizer is nearly sure has no confidence of 100', async () => {
  expect((await readMarks('米', 0.996)).confidence).to.equal(99);
});

it('Of a mark in which the recognizer sees no letter, Tesseract makes none in English', async () => {
  expect(await readMarks('', 1)).to.deep.include({ read: '', notices: ['unsure_text_left_out'] });
});

it('Two halves of each line of a page that leans more and more stand in one row', () => {
  const half = (text: string, x: number, y: number, angle: number) => ({
    strip: { x, y, angle, width: 300, height: 20 },
    words: [{ text, confidence: 99, start: 0, end: 1 }],
  });
  // The lines are as far apart as they are high, and the last one leans by 3 degrees.
  const lines = [0, 1, 2, 3].flatMap((row) => {
    const angle = row * 0.0175;
    const y = 100 + row * 26;
    return [half(`left ${row}`, 50, y, angle), half(`right ${row}`, 360, y + 310 * Math.sin(angle), angle)];
  });
  expect(layOutPage(lines).split('\n').filter(Boolean)).to.deep.equal([0, 1, 2, 3].map((row) => `| left ${row} | right ${row} |`));
});
