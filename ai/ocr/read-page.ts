import type { NoticeCode } from '../extract/notice.ts';
import type { Engine, LayoutMode, Word } from './engine.ts';
import { type Grey, type Quarters, rotate, turnBox } from './image/grey.ts';
import { layOutWords } from './lay-out-words.ts';
import { type PreparedPage, preparePage } from './prepare-page.ts';
import { poorConfidence, type Recognized } from './task.ts';
import { coverageOf, isLegible, meanConfidence } from './words.ts';

/** In percent. What is read with less is no text: the grain of a photograph, a drawing, handwriting. */
const leastConfidence = { line: 45, page: 50 };
/** With fewer of its letters read, a page is read in another way; with much fewer it says so. */
const wellRead = 0.98;
const hardlyRead = 0.75;
/** Fewer letters are too few to count. */
const fewestLetters = 9;
/** Fewer letters are speckles if most of what looks like print is not read. */
const fewestAmongUnread = 3;
/** Words are grain if fewer than a tenth of what looks like letters stands in them, unless they are read this surely, in percent. */
const grain = { share: 0.1, confidence: 80 };
/** So many words that are left out are worth a notice: a speckle is read as a letter or two. */
const fewestLeftOut = 3;
/** The share of a page's time in which its last reading must end: if it came late, the first would be lost, too. */
const shareOfReadings = 0.9;
const longestTimerMs = 2 ** 31 - 1;

/** How far a page is turned before it is read, and how it is taken apart. */
type Way = [degrees: Quarters, mode: LayoutMode];

/** What was read of a page in one way. */
interface Reading {
  words: Word[];
  /** The share of its letters that stands in some of these words. */
  coverage: (words: Word[]) => number;
}

/**
 * Recognizes the text of a page, however it was turned. If the engine's own layout misses print, the page is read in the other directions,
 * unless its direction is known, and as one block; the reading with most words counts. The confidence is that of the words, less the share of
 * letters that were not read. `deadline` is in milliseconds of `performance.now()`: no further reading begins with less time left than the
 * first took.
 */
export async function readPage(page: Grey, engine: Engine, deadline: number): Promise<Recognized> {
  const prepared = await preparePage(page, engine);
  if (!prepared) return { text: '', confidence: null, notices: [] };
  const startedAt = performance.now();
  let best = await read(prepared, engine, [0, 'auto']);
  const tookMs = performance.now() - startedAt;
  const endsAt = startedAt + shareOfReadings * (deadline - startedAt);
  // By itself the engine reads lines that run up the page, and then their places are others.
  const turns = isSure(best) ? [] : prepared.turns.map((degrees): Way => [degrees, 'block']);
  // Where it found no line at all, as in a table of single digits, print may well be upright. Upside down, many digits look like others.
  const ways: Way[] = best.words.length === 0 ? [[0, 'block'], ...turns] : [...turns, [0, 'block']];
  for (const way of ways) {
    const leftMs = endsAt - performance.now();
    if (isGood(best) || leftMs <= tookMs) break;
    const next = await readWithin(prepared, engine, way, leftMs);
    if (next === undefined) break;
    if (lettersOf(next) > lettersOf(best)) best = next;
  }
  return toResult(best, prepared.letter);
}

/** Undefined if there was not enough time. */
async function readWithin(prepared: PreparedPage, engine: Engine, way: Way, withinMs: number): Promise<Reading | undefined> {
  const signal = AbortSignal.timeout(Math.min(Math.ceil(withinMs), longestTimerMs));
  try {
    return await read(prepared, engine, way, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

async function read(
  { picture, letters, letter }: PreparedPage,
  engine: Engine,
  [degrees, mode]: Way,
  signal?: AbortSignal,
): Promise<Reading> {
  const words = await engine.recognize(await rotate(picture, degrees), mode, signal);
  const turned = letters.map((box) => turnBox(box, picture, degrees));
  return { words, coverage: (some) => (letters.length < fewestLetters ? 1 : coverageOf(turned, some, letter)) };
}

function isGood({ words, coverage }: Reading): boolean {
  return coverage(withoutJunk(words)) >= wellRead && isSure({ words });
}

function isSure({ words }: Pick<Reading, 'words'>): boolean {
  return (meanConfidence(words) ?? 0) >= poorConfidence;
}

/** How many characters were read surely. Signs alone are none: print that lies on its side looks like some. */
function lettersOf({ words }: Reading): number {
  return countLetters(words.filter(({ confidence }) => confidence >= poorConfidence));
}

function toResult({ words, coverage }: Reading, letter: number): Recognized {
  const clear = withoutJunk(words);
  const isGrain = coverage(clear) < grain.share && (meanConfidence(clear) ?? 0) < grain.confidence;
  const isSpeckled = isGrain || (coverage(clear) < hardlyRead && countLetters(clear) < fewestAmongUnread);
  const kept = isSpeckled ? [] : clear;
  const confidence = meanConfidence(kept);
  const share = coverage(kept);
  const notices: NoticeCode[] = [];
  if (words.filter(isLegible).length - kept.filter(isLegible).length >= fewestLeftOut) notices.push('unsure_text_left_out');
  else if (share < hardlyRead) notices.push('print_not_read');
  return { text: layOutWords(kept, letter), confidence: confidence === undefined ? null : Math.round(confidence * share), notices };
}

function countLetters(words: Word[]): number {
  return words.filter(isLegible).reduce((sum, { text }) => sum + text.length, 0);
}

/** The words without lines of signs that only look like some, and without speckles. */
function withoutJunk(words: Word[]): Word[] {
  const clear = words.filter((word) => isLegible(word) || word.confidence >= poorConfidence);
  const lines = [...Map.groupBy(clear, ({ line }) => line).values()];
  const kept = lines.filter((line) => (meanConfidence(line) ?? 0) >= leastConfidence.line && line.some(isLegible)).flat();
  return (meanConfidence(kept) ?? 0) < leastConfidence.page ? [] : kept;
}
