import { hasPairedRun } from '../../../base/text/scripts.ts';

const moreInCjk = 0.04;

/**
 * How much nearer the model has two texts if both are Chinese, Japanese or Korean, whatever they say, as a cosine similarity (XQuAD, CMRC 2018,
 * JSQuAD, KorQuAD, `docs/quality.md`).
 */
export function nearnessInCjk(one: string, other: string): number {
  return hasPairedRun(one) && hasPairedRun(other) ? moreInCjk : 0;
}
