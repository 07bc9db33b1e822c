import type { Candidate } from './candidate.ts';

/** Keeps the best of what it is offered; of equal ones those that came first. */
export function keepBest(count: number) {
  // In the order in which they came: of equal ones the last is the worst.
  const kept: Array<Candidate & { score: number }> = [];
  let worst = { at: 0, score: Number.NEGATIVE_INFINITY };
  const findWorst = () => {
    const at = kept.reduce((lowest, { score }, i) => (score <= (kept[lowest]?.score ?? 0) ? i : lowest), 0);
    worst = { at, score: kept[at]?.score ?? 0 };
  };
  return {
    /** Whether one with this score would be kept. */
    wants: (score: number): boolean => score > worst.score,
    offer(score: number, documentId: string, index: number): void {
      if (kept.length >= count) {
        if (score <= worst.score) return;
        kept.splice(worst.at, 1);
      }
      kept.push({ documentId, index, score });
      if (kept.length === count) findWorst();
    },
    candidates: (): Candidate[] => kept.map(({ documentId, index }) => ({ documentId, index })),
    /** Best first; equal ones by their document and index. */
    ranked: () => kept.toSorted((one, other) => other.score - one.score || (isBefore(one, other) ? -1 : 1)),
  };
}

function isBefore(one: Candidate, other: Candidate): boolean {
  return one.documentId === other.documentId ? one.index < other.index : one.documentId < other.documentId;
}
