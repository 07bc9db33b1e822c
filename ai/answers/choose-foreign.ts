import { nearnessInCjk } from '../embedding/e5/nearness-in-cjk.ts';
import type { ForeignUnit, Pick, Question } from './answer.ts';

/**
 * The cosine similarity that a unit needs, by the local sentence model. A lower one answers as many further questions whose paragraph is absent
 * as others, and soon more (XQuAD, `docs/quality.md`).
 */
const leastSimilarity = 0.81;

/** The unit that is nearest to the question, if it is near, by vectors of length 1: words tell nothing across languages. */
export async function chooseForeign(
  { before, question }: Question,
  units: ForeignUnit[],
  embed: (texts: string[]) => Promise<number[][]>,
): Promise<Pick[]> {
  if (units.length === 0) return [];
  const asked = before === null ? question : `${before} ${question}`;
  const [query = [], ...vectors] = await embed([asked, ...units.map(({ text }) => text)]);
  const similarities = units.map(({ text }, place) => {
    const cosine = (vectors[place] ?? []).reduce((sum, value, index) => sum + value * (query[index] ?? 0), 0);
    return cosine - nearnessInCjk(asked, text);
  });
  const best = Math.max(...similarities);
  const nearest = units[similarities.indexOf(best)];
  return nearest && best >= leastSimilarity ? [{ units: [nearest.number], mark: null }] : [];
}
