import type { LentBytes } from '../../db/lent-bytes.ts';
import type { ScanPace } from '../scan-pace.ts';
import type { ChunkScores } from './chunk-scores.ts';
import { postingLength, readFrequency, readIndex, readLength } from './postings.ts';
import type { TermPostings } from './read-postings.ts';

/** How much a term's repetitions count, and how much a chunk's length: the usual values of BM25. */
const [k1, b] = [1.2, 0.75];

const [space, minus, zero] = [0x20, 0x2d, 0x30];

/** Adds what a term contributes to the scores of chunks, and gives its postings back. */
export async function addScores(scores: ChunkScores, term: TermPostings, pace: ScanPace): Promise<void> {
  const { documents } = term;
  const scorePosting = createPostingScorer(term);
  for (let at = documents.start; at < documents.end; ) {
    at = addSlice(scores, documents, { at, scorePosting, pace });
    if (at < documents.end) await pace.next();
  }
  documents.release();
}

/** What a posting adds to its chunk's score: BM25 by how often the term occurs in the chunk, and by how many terms the chunk has. */
type PostingScorer = (frequency: number, length: number) => number;

function createPostingScorer({ frequency: chunksWithTerm, chunks, terms }: TermPostings): PostingScorer {
  const rarity = Math.log(1 + (chunks - chunksWithTerm + 0.5) / (chunksWithTerm + 0.5));
  const averageLength = terms / chunks;
  return (frequency, length) => (rarity * frequency * (k1 + 1)) / (frequency + k1 * (1 - b + (b * length) / averageLength));
}

/**
 * Adds document after document from a position on, as long as the slice lasts. Returns where the next slice begins. The loop is not that of
 * {@link addScores}, because an asynchronous function takes half as much time again for it.
 */
function addSlice(
  scores: ChunkScores,
  { bytes, end }: LentBytes,
  { at: start, scorePosting, pace }: { at: number; scorePosting: PostingScorer; pace: ScanPace },
): number {
  for (let at = start; at < end; ) {
    const first = findSpace(bytes, at, end, 1) + 1;
    const last = findSpace(bytes, first, end, postingLength);
    const chunks = readIndex(bytes, last - postingLength) + 1;
    const offset = scores.reserve(readNumber(bytes, at, first - 1), chunks);
    const { scores: sums } = scores;
    for (let posting = first; posting < last; posting += postingLength) {
      const score = scorePosting(readFrequency(bytes, posting), readLength(bytes, posting));
      sums[offset + readIndex(bytes, posting)] = (sums[offset + readIndex(bytes, posting)] as number) + score;
    }
    at = last + 1;
    if (pace.isOver((last - first) / postingLength)) return at;
  }
  return end;
}

/** Where the next space is, of those which are a multiple of `step` away; the end if there is none. */
function findSpace(bytes: Uint8Array, start: number, end: number, step: number): number {
  let at = start;
  while (at < end && bytes[at] !== space) at += step;
  return at;
}

function readNumber(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === minus;
  let number = 0;
  for (let at = isNegative ? start + 1 : start; at < end; at += 1) number = number * 10 + (bytes[at] as number) - zero;
  return isNegative ? -number : number;
}
