import { type Models, runModel } from './models.ts';
import { cutStrip, type Picture, type Strip, turnStrip, widen } from './picture.ts';

/** What the model of direction takes, in pixels. */
const seen = { width: 192, height: 48 };
/** The number of lines, the longest ones, that tell how a page lies. */
const voters = 12;
/** The ratio of height to width from which on a line runs up or down. */
const tall = 2.5;

/** By how many quarters a page lies turned clockwise, from its lines. */
export async function findTurn(picture: Picture, lines: Strip[], models: Models): Promise<number> {
  const lengthOf = (some: Strip[]) => some.reduce((sum, { width, height }) => sum + Math.max(width, height), 0);
  const isSideways = lengthOf(lines.filter(isTall)) > lengthOf(lines.filter((line) => line.width > tall * line.height));
  const level = isSideways ? lines.map((line) => turnStrip(line, 1)) : lines;
  return (isSideways ? 1 : 0) + ((await areReversed(picture, level, models)) ? 2 : 0);
}

/** Whether a line runs up or down: a single letter is less tall. */
export function isTall({ width, height }: Strip): boolean {
  return height > tall * width;
}

async function areReversed(picture: Picture, lines: Strip[], { direction }: Models): Promise<boolean> {
  const longest = lines.toSorted((one, other) => other.width - one.width).slice(0, voters);
  let votes = 0;
  for (const line of longest) {
    const { data } = await runModel(direction, look(picture, line));
    votes += (data[1] as number) - (data[0] as number);
  }
  return votes > 0;
}

/** The beginning of a line, with grey behind it if it is short. */
function look(picture: Picture, line: Strip): Picture {
  const cut = cutStrip(picture, { ...line, width: Math.min(line.width, (line.height * seen.width) / seen.height) }, seen.height);
  return widen(cut, seen.width);
}
