import { countCharacters } from '../characters.ts';
import { findQuote } from './find-quote.ts';
import { foldText } from './fold-text.ts';
import { clearer, findUnproven, isTooShort, type Unproven } from './prove-facts.ts';
import { sentenceAround } from './sentence-around.ts';

/** A sentence of an answer, with what it says it rests on. */
export interface SaidSentence {
  text: string;
  citations: { passage: string; quote: string }[];
}

/** A passage as its document has it. */
export interface QuotedPassage {
  /** The document's own text at the passage, and a little before and after it. */
  text: string;
  /** Where `text` begins in the text of the document, in characters. */
  start: number;
  /** Text recognition has read it. */
  recognized: boolean;
  /** The title of the document, and the headings above the passage: a sentence may name them. */
  labels: string[];
}

/** A quote that stands in its document. */
export interface ProvenCitation {
  passage: string;
  /** As the document has it. */
  quote: string;
  /** Where it stands in the text of the document, in characters. */
  start: number;
  /** The index after the last character. */
  end: number;
  /** False if letters of a text from text recognition differ from what was quoted. */
  exact: boolean;
}

/**
 * Why a sentence is withheld. No quote holds: there is none (`no_citation`), it is of a passage that was not found (`unknown_passage`), says
 * nothing (`quote_too_short`), or does not stand there (`quote_not_found`). Or it has a number, date or name that no quote of it has.
 */
type WithheldReason = 'no_citation' | 'unknown_passage' | 'quote_too_short' | 'quote_not_found' | Unproven;

/** A sentence with the quotes of it that hold, or the reason why it is withheld. */
export type Proof = { holds: true; citations: ProvenCitation[] } | { holds: false; reason: WithheldReason };

/**
 * Proves a sentence by its quotes, without a model: each is looked up in the passage that it names, and numbers, dates and names of the
 * sentence in the quotes that stand there. Quotes that do not hold are left out. Whether the sentence follows from its quotes is not told.
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

/** Looks a quote up in the passage that it names. Returns where it stands, what was quoted and its sentence, or why it does not hold. */
export function proveCitation(
  { passage, quote }: SaidSentence['citations'][number],
  source: QuotedPassage | undefined,
): { citation: ProvenCitation; claimed: string; sentence: string } | WithheldReason {
  if (!source) return 'unknown_passage';
  if (isTooShort(quote)) return 'quote_too_short';
  const { text } = source;
  const found = findQuote(quote, { ...foldText(text), text }, source);
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
