import sharp from 'sharp';
import { recognize, tryToRecognize } from './recognize.ts';
import { poorConfidence, type Recognized } from './task.ts';

/** A turn is clearly better with this much more confidence, in percent. */
const clearlyBetter = 15;
/** Enough to tell letters from none: about 150 dots per inch of a page of A4. */
const trialPixels = 1_700;
/** Degrees clockwise, the most frequent first. */
const turns = [180, 90, 270];
/** The share of a page's time in which the last try must end: if it came late, what was read before would be lost, too. */
const shareOfTries = 0.9;

/**
 * Recognizes the text of a page (a PNG) that may have been scanned upside down or sideways: if the first reading is poor, smaller copies are
 * tried in the other directions, and the page is read again in the best one. Trials that do not fit before `deadline` (milliseconds of
 * `performance.now()`) leave the first reading. The engine must have been loaded.
 */
export async function readUpright(page: Buffer, deadline: number, engine = { recognize, tryToRecognize }): Promise<Recognized> {
  const startedAt = performance.now();
  const asItIs = await engine.recognize(page);
  const sure = asItIs.confidence ?? 0;
  const tookMs = performance.now() - startedAt;
  const endsAt = startedAt + shareOfTries * (deadline - startedAt);
  const isTime = (readings = 1) => performance.now() + readings * tookMs <= endsAt;
  const tryTurned = async (degrees: number, pixels?: number) => {
    const turned = await turn(page, degrees, pixels);
    return await engine.tryToRecognize(turned, endsAt - performance.now());
  };
  if (sure >= poorConfidence) return asItIs;
  let best = { degrees: 0, confidence: sure + clearlyBetter };
  for (const degrees of turns) {
    if (!isTime()) return asItIs;
    const tried = await tryTurned(degrees, trialPixels);
    if (tried === undefined) return asItIs;
    const { confidence } = tried;
    if ((confidence ?? 0) > best.confidence) best = { degrees, confidence: confidence ?? 0 };
    if (best.confidence >= poorConfidence && best.degrees !== 0) break;
  }
  // Upright text takes longer than text that looked like noise, so the second reading may need more time.
  if (best.degrees === 0 || !isTime(2)) return asItIs;
  const turned = await tryTurned(best.degrees);
  return (turned?.confidence ?? 0) > sure && turned ? turned : asItIs;
}

/** Turns a page clockwise, and makes it smaller if neither side may be longer than `pixels`. */
function turn(page: Buffer, degrees: number, pixels?: number): Promise<Buffer> {
  const turned = sharp(page).rotate(degrees);
  const sized = pixels === undefined ? turned : turned.resize({ width: pixels, height: pixels, fit: 'inside', withoutEnlargement: true });
  return sized.png({ compressionLevel: 1 }).toBuffer();
}
