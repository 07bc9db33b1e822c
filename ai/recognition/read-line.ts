import { type Models, runModel } from './models.ts';
import { cutStrip, type Picture, type Strip, widen } from './picture.ts';

/** A word of a line. */
export interface Word {
  text: string;
  /** How sure it is, in percent. */
  confidence: number;
  /** Where it begins and ends in its line, as shares of its width. */
  start: number;
  end: number;
}

/** A line of text that was read, and where it stands. */
export interface ReadLine {
  strip: Strip;
  words: Word[];
}

/** In pixels, as the recognizer was trained. Print at 300 dots per inch is as high, too. */
export const lineHeight = 48;
/** Minimum width: a narrower line gets grey at its right. */
const minWidth = 48;
/** Maximum length of a line of text, in its height. */
const maxLength = 150;
/** In heights of a line. */
const halfCharacter = 0.2;
const marginOfLine = 0.15;
/** Minimum on a length of the line's height, even in a row of a table. */
const minCharacters = 0.5;
/** From 0 to 1. */
const likelySpace = 0.02;

interface Character {
  text: string;
  /** From 0 to 1. */
  sure: number;
  start: number;
  end: number;
  /** Whether a space may stand before it. */
  parted: boolean;
}

/** Cuts a line out, as high as recognizers take it. */
export function cutLine(picture: Picture, strip: Strip): Picture {
  return cutStrip(picture, { ...strip, width: Math.min(strip.width, maxLength * strip.height) }, lineHeight);
}

/** Reads the line that stands in a strip of a picture. */
export async function readLine(picture: Picture, strip: Strip, models: Models): Promise<ReadLine> {
  const cut = cutLine(picture, strip);
  const wide = Math.max(minWidth, cut.width);
  const { data, dims } = await runModel(models.recognizer, wide === cut.width ? cut : widen(cut, wide));
  const [, steps = 0, classes = 0] = dims;
  return { strip, words: spread(toWords(decode({ data, steps, classes, shown: cut.width / wide }, models.characters)), strip) };
}

/**
 * The best class of each step, where it is another one than before and not nothing (greedy decoding of CTC). Models that were trained on
 * Chinese are seldom sure of a space: one that is likely enough between two characters counts.
 */
function decode(
  { data, steps, classes, shown }: { data: Float32Array; steps: number; classes: number; shown: number },
  characters: string[],
): Character[] {
  const read: Character[] = [];
  let [before, space] = [0, 0];
  for (let step = 0; step < steps; step += 1) {
    const row = data.subarray(step * classes, (step + 1) * classes);
    let best = 0;
    for (let one = 1; one < classes; one += 1) if ((row[one] as number) > (row[best] as number)) best = one;
    const [start, end] = [step, step + 1].map((at) => Math.min(1, at / steps / shown)) as [number, number];
    space = Math.max(space, row[classes - 1] as number);
    if (best !== 0 && best === before) (read.at(-1) as Character).end = end;
    else if (best !== 0) {
      read.push({
        text: characters[best] ?? '',
        sure: row[best] as number,
        start,
        end,
        parted: space > likelySpace && !areDigits(read.at(-1)?.text, characters[best]),
      });
      space = 0;
    }
    before = best;
  }
  return read;
}

/** Digits are often set wide, and a number that is parted is another one. */
function areDigits(...texts: (string | undefined)[]): boolean {
  return texts.every((text) => /^\d$/.test(text ?? ''));
}

function toWords(characters: Character[]): Word[] {
  const words: (Word & { sum: number })[] = [];
  let isOpen = false;
  for (const { text, sure, start, end, parted } of characters) {
    const word = words.at(-1);
    if (text.trim() === '') isOpen = false;
    else if (isOpen && word && !parted) Object.assign(word, { text: word.text + text, end, sum: word.sum + sure });
    else {
      words.push({ text, start, end, sum: sure, confidence: 0 });
      isOpen = true;
    }
  }
  return words.map(({ sum, ...word }) => ({ ...word, confidence: (100 * sum) / [...word.text].length }));
}

/** The recognizer names the middle of each character; the detector leaves a margin around a line. */
function spread(words: Word[], { width, height }: Strip): Word[] {
  const [half, margin] = [(halfCharacter * height) / width, (marginOfLine * height) / width];
  return words.map((word, index) => ({
    ...word,
    start: index === 0 ? margin : Math.max(margin, word.start - half),
    end: index === words.length - 1 ? 1 - margin : Math.min(1 - margin, word.end + half),
  }));
}

/** How sure words are, on average over their characters, in percent; 0 if there are none. */
export function confidenceOf(words: Word[]): number {
  const characters = words.reduce((sum, { text }) => sum + text.length, 0);
  return characters === 0 ? 0 : words.reduce((sum, { text, confidence }) => sum + text.length * confidence, 0) / characters;
}

/** How surely a line is read, in percent: less if its few characters do not account for its length, as where its script is not known. */
export function surenessOf({ strip, words }: ReadLine): number {
  const characters = words.reduce((sum, { text }) => sum + text.length, 0);
  return confidenceOf(words) * Math.min(1, characters / ((minCharacters * strip.width) / strip.height));
}
