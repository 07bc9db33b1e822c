import { countCharacters, forward } from '../characters.ts';
import { findQuote } from './find-quote.ts';
import { foldText } from './fold-text.ts';
import { clearer, findUnproven, isTooShort, type Unproven } from './prove-facts.ts';
import { sentenceAround } from './sentence-around.ts';

/** A sentence of an answer, with the quotes that it cites. */
export interface SaidSentence {
  text: string;
  citations: { passage: string; quote: string }[];
}

/** A passage of a document. */
export interface QuotedPassage {
  /** The document's own text at the passage, and a little before and after it. */
  text: string;
  /** Where `text` begins in the text of the document, in characters. */
  start: number;
  /** Where the passage begins, if that is not there: what stands in it is found before what stands around it. */
  passageStart?: number;
  /** Whether it is recognized text. */
  recognized: boolean;
  /** The title of the document, and the headings above the passage: a sentence may name them. */
  labels: string[];
}

/** A quote that was found in its document. */
export interface ProvenCitation {
  passage: string;
  /** In the words of the document. */
  quote: string;
  /** Its index in the text of the document, in characters. */
  start: number;
  /** The index after the last character. */
  end: number;
  /** False if letters of recognized text differ from the given quote. */
  exact: boolean;
}

/**
 * Why a sentence is withheld. It has no citation (`no_citation`), or none holds: the passage does not exist (`unknown_passage`), or the
 * quote is too short (`quote_too_short`) or not in the passage (`quote_not_found`). Or the sentence has a number, date or name that is in
 * none of its quotes.
 */
type WithheldReason = 'no_citation' | 'unknown_passage' | 'quote_too_short' | 'quote_not_found' | Unproven;

/** The quotes of a sentence that were found, or the reason why the sentence is withheld. */
export type Proof = { holds: true; citations: ProvenCitation[] } | { holds: false; reason: WithheldReason };

/**
 * Checks a sentence by its quotes, without a model: looks up each quote in its passage, and each number, date and name of the sentence in
 * the quotes that were found. Leaves out the other quotes. Does not check whether the sentence follows from its quotes.
 */
export function proveSentence(sentence: SaidSentence, passages: ReadonlyMap<string, QuotedPassage>, question = ''): Proof {
  const checked = sentence.citations.map((citation) => proveCitation(citation, passages.get(citation.passage)));
  const found = checked.flatMap((proof) => (typeof proof === 'string' ? [] : [proof]));
  const citations = found.map(({ citation }) => citation);
  if (citations.length === 0) return { holds: false, reason: checked.find((proof) => typeof proof === 'string') ?? 'no_citation' };
  const cited = citations.flatMap(({ passage }) => passages.get(passage) ?? []);
  const unproven = findUnproven(sentence.text, {
    quotes: found.map(({ citation, claimed }) => (citation.exact ? citation.quote : clearer(citation.quote, claimed))),
    sentences: found.flatMap(({ citation, claimed, sentence }) => (citation.exact ? [sentence] : [sentence, claimed])),
    labels: cited.flatMap(({ labels }) => labels),
    words: [...cited.map(({ text }) => text), question],
    recognized: cited.some(({ recognized }) => recognized),
  });
  return unproven ? { holds: false, reason: unproven } : { holds: true, citations: distinct(citations) };
}

/** Looks up a quote in its passage. Returns the citation, the given quote and the sentence around it, or why the quote does not hold. */
export function proveCitation(
  { passage, quote }: SaidSentence['citations'][number],
  source: QuotedPassage | undefined,
): { citation: ProvenCitation; claimed: string; sentence: string } | WithheldReason {
  if (!source) return 'unknown_passage';
  if (isTooShort(quote)) return 'quote_too_short';
  const { text } = source;
  const before = source.passageStart === undefined ? 0 : forward(text, 0, source.passageStart - source.start);
  const found = findQuote(quote, { ...foldText(text), text }, { recognized: source.recognized, from: before });
  if (!found) return 'quote_not_found';
  const start = source.start + countCharacters(text.slice(0, found.start));
  const verbatim = text.slice(found.start, found.end);
  const citation = { passage, quote: verbatim, start, end: start + countCharacters(verbatim), exact: found.exact };
  return { citation, claimed: quote, sentence: sentenceAround(text, found) };
}

/** Models repeat themselves. */
function distinct(citations: ProvenCitation[]): ProvenCitation[] {
  return citations.filter(
    (one, index) =>
      !citations.slice(0, index).some(({ passage, start, end }) => passage === one.passage && start === one.start && end === one.end),
  );
}
