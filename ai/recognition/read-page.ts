import type { RecognizedLine } from '../formats/locate-lines.ts';
import type { NoticeCode } from '../formats/notice.ts';
import type { Engine } from './engine.ts';
import { findLines } from './find-lines.ts';
import { layOutPage } from './lay-out-lines.ts';
import type { Models } from './models.ts';
import { edit, type Picture, pointOf, type Strip, turnStrip } from './picture.ts';
import { confidenceOf, type ReadLine, readLine, surenessOf } from './read-line.ts';
import { poorConfidence, type Recognized } from './task.ts';
import { readByTesseract } from './tesseract-lines.ts';
import { findTurn, isTall } from './turn-lines.ts';

/** In percent. A line that is read less surely is read by Tesseract, too. */
const sure = 90;
/** Minimum of text; what is less sure is the grain of a photograph, or a drawing. */
const minConfidence = 30;

/** A table in small print has 1,500 lines; more are a pattern. */
const maxLines = 3_000;
/** In pixels: what is smoothed to take speckles away. */
const speckle = 3;

/** What a page is read with. `languages` are those of Tesseract. */
export interface PageReaders {
  models: Models;
  tesseract: Engine;
  languages: string[];
}

/**
 * Recognizes the text of a page, however it was turned: the lines that the detector finds, each as the surer one of two recognizers reads it.
 * The confidence is that of its characters, rounded down. What is unsure is kept, and a notice says so.
 */
export async function readPage(picture: Picture, readers: PageReaders): Promise<Recognized> {
  const { upright, strips, turn } = await findUpright(picture, readers.models);
  const lines = await readLines(upright, strips.slice(0, maxLines), readers);
  const kept = lines.filter((line) => surenessOf(line) >= (isOfSigns(line) ? sure : minConfidence));
  const notices: NoticeCode[] = [];
  if (kept.some((line) => surenessOf(line) < poorConfidence)) notices.push('unsure_text');
  if (kept.length < strips.length) notices.push('unsure_text_left_out');
  const confidence = kept.length === 0 ? null : Math.floor(confidenceOf(kept.flatMap(({ words }) => words)));
  const placed = kept.map(({ strip, words }) => ({ text: words.map(({ text }) => text).join(' '), box: boxOf(strip, upright, turn) }));
  return { text: layOutPage(kept), confidence, notices, lines: placed.sort((one, other) => one.box[1] - other.box[1]) };
}

/** The box around a strip of an upright page, on the page as it lay: turned clockwise by so many quarters. */
function boxOf(strip: Strip, { width, height }: Picture, turn: number): RecognizedLine['box'] {
  const edges = [0, 0.25, 0.5, 0.75, 1].flatMap((along) =>
    [0, 1].map((across) => pointOf(strip, along * strip.width, across * strip.height)),
  );
  const places = edges.map(({ x, y }) => {
    let place = [x / width, y / height] as [number, number];
    for (let quarter = 0; quarter < turn; quarter += 1) place = [1 - place[1], place[0]];
    return place.map((share) => Math.round(Math.min(1, Math.max(0, share)) * 10_000)) as [number, number];
  });
  const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return [left, top, Math.max(...xs) - left, Math.max(...ys) - top];
}

/**
 * Whether a line has only signs, which may be of a drawing, or in a cell: a dash, a tick. So may one character that is neither a digit nor
 * Latin: an asterisk is read as 米, an arrow as 穴.
 */
function isOfSigns({ words }: ReadLine): boolean {
  const text = words.map((word) => word.text).join('');
  return !/[\p{Script=Latin}\p{N}]|[\p{L}\p{M}]{2}/u.test(text);
}

/** The lines of an upright page with their places. */
async function readLines(picture: Picture, strips: Strip[], { models, tesseract, languages }: PageReaders): Promise<ReadLine[]> {
  const lines: ReadLine[] = [];
  for (const strip of strips) lines.push(await readUpright(picture, strip, models));
  const isEnglish = languages.every((name) => name === 'eng');
  // In English, a strip in which the first recognizer sees no letter has none: Tesseract makes one of every grain.
  const doubtful = lines.filter((line) => !isEnglish || (line.words.length > 0 && surenessOf(line) < sure));
  const again = doubtful.length === 0 ? [] : await readByTesseract(picture, doubtful, tesseract);
  const surer = new Map(doubtful.map((line, index) => [line, surerOf(line, again[index] as ReadLine)]));
  return lines.map((line) => surer.get(line) ?? line);
}

/**
 * The upright page with its lines, and by how many quarters it was turned clockwise. Finds the lines of a turned page again, once it is
 * upright: letters that stand alone are missed before.
 */
async function findUpright(page: Picture, models: Models): Promise<{ upright: Picture; strips: Strip[]; turn: number }> {
  let picture = page;
  let strips = await findLines(page, models.detector);
  if (strips.length === 0 && Math.min(page.width, page.height) >= speckle) {
    // Dense speckles hide print from the detector, and nothing else.
    picture = await edit(page, (image) => image.median(speckle));
    strips = await findLines(picture, models.detector);
  }
  const turn = await findTurn(picture, strips, models);
  if (turn === 0) return { upright: picture, strips, turn };
  const upright = await edit(picture, (image) => image.rotate(360 - 90 * turn));
  return { upright, strips: await findLines(upright, models.detector), turn };
}

/** A tall box on a page whose lines run across holds a line that runs up or down. */
async function readUpright(picture: Picture, strip: Strip, models: Models): Promise<ReadLine> {
  const asItIs = await readLine(picture, strip, models);
  if (!isTall(strip)) return asItIs;
  const turned = [await readLine(picture, turnStrip(strip, 1), models), await readLine(picture, turnStrip(strip, 3), models)];
  return turned.reduce(surerOf, asItIs);
}

function surerOf(one: ReadLine, other: ReadLine): ReadLine {
  return surenessOf(other) > surenessOf(one) ? other : one;
}
