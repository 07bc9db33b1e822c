import type { Engine } from './engine.ts';
import type { Picture } from './picture.ts';
import { cutLine, lineHeight as height, type ReadLine, type Word } from './read-line.ts';

/** In pixels: what is left white around each line. */
const margin = 24;
/** Maximum lines of a picture: Tesseract refuses one that is higher than 32,767 pixels. */
const maxAtOnce = 100;

/** Lets Tesseract read some lines of a picture, many at once: they are set below each other, upright and in an even light. */
export async function readByTesseract(picture: Picture, lines: ReadLine[], engine: Engine): Promise<ReadLine[]> {
  const read: ReadLine[] = [];
  for (let at = 0; at < lines.length; at += maxAtOnce) read.push(...(await readAtOnce(picture, lines.slice(at, at + maxAtOnce), engine)));
  return read;
}

async function readAtOnce(picture: Picture, lines: ReadLine[], engine: Engine): Promise<ReadLine[]> {
  const cuts = lines.map(({ strip }) => toGrey(cutLine(picture, strip)));
  const [wide, step] = [Math.max(0, ...cuts.map(({ width }) => width)) + 2 * margin, height + margin];
  const page = { data: new Uint8Array(wide * (cuts.length * step + margin)).fill(255), width: wide, height: cuts.length * step + margin };
  for (const [index, { data, width }] of cuts.entries()) {
    for (let row = 0; row < height; row += 1) {
      page.data.set(data.subarray(row * width, (row + 1) * width), (margin + index * step + row) * wide + margin);
    }
  }
  const found = Map.groupBy(await engine.recognize(page), ({ top, bottom }) => Math.floor(((top + bottom) / 2 - margin / 2) / step));
  return lines.map(({ strip }, index) => {
    const width = cuts[index]?.width ?? 1;
    const words = (found.get(index) ?? []).map(({ text, confidence, left, right }): Word => {
      return { text, confidence, start: (left - margin) / width, end: (right - margin) / width };
    });
    return { strip, words: words.sort((one, other) => one.start - other.start) };
  });
}

/** Dark print on white: the levels of a line are spread so that its ground is white. */
function toGrey({ data, width }: Picture): { data: Uint8Array; width: number } {
  const levels = Uint8Array.from({ length: data.length / 3 }, (_, at) =>
    Math.round(0.299 * (data[at * 3] as number) + 0.587 * (data[at * 3 + 1] as number) + 0.114 * (data[at * 3 + 2] as number)),
  );
  const sorted = levels.toSorted();
  const [low = 0, ground = 0, high = 0] = [0.01, 0.5, 0.99].map((share) => sorted[Math.floor(share * (sorted.length - 1))]);
  const isDark = ground - low > high - ground;
  // Print is at the far end from the ground.
  const [print, paper] = isDark ? [low, ground] : [high, ground];
  return { data: levels.map((level) => Math.min(255, Math.max(0, (255 * (level - print)) / (paper - print || 1)))), width };
}
