import type { Candidate } from './candidate.ts';
import { keepBest } from './keep-best.ts';

type Scored = Candidate & { score: number };

/**
 * Keeps the documents whose best chunk is best, and the best chunks of each. The chunks of a document are offered one after another; of
 * equal ones those that came first are kept.
 */
export function keepBestDocuments(count: number, chunksOfEach: number) {
  let kept: Scored[][] = [];
  let [documentId, chunks] = ['', keepBest(chunksOfEach)];
  const finish = () => {
    const best = chunks.ranked();
    if (best.length > 0) kept.push(best);
    if (kept.length >= 2 * count) cut();
    chunks = keepBest(chunksOfEach);
  };
  const cut = () => {
    kept = kept.sort((one, other) => (other[0]?.score ?? 0) - (one[0]?.score ?? 0)).slice(0, count);
  };
  return {
    offer(score: number, ofDocument: string, index: number): void {
      if (ofDocument !== documentId) finish();
      documentId = ofDocument;
      chunks.offer(score, ofDocument, index);
    },
    candidates(): Candidate[] {
      finish();
      cut();
      return kept.flatMap((best) => best.map(({ documentId: id, index }) => ({ documentId: id, index })));
    },
  };
}
