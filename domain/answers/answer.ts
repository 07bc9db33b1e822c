import type { Db } from '../../db/connect.ts';
import { readDocuments } from '../documents/document.ts';
import type { UnitContext } from './unit-context.ts';

/** Where the words of a sentence stand. Positions count characters of the document's text. */
interface AnswerCitation {
  documentId: string;
  documentName: string;
  page: number | null;
  headings: string[];
  start: number;
  end: number;
  /** The words of the document, as they stand there. */
  quote: string;
  exact: boolean;
  /** Whether text recognition has read the page. */
  recognized: boolean;
  /** What stands around it. */
  context: UnitContext;
  /** The version of the document. */
  version: number;
}

/** A unit of a document, or two neighbours. Its text equals the quote of its citation. */
export interface AnswerSentence {
  text: string;
  /** Its words that answer the question. */
  mark: string | null;
  /** Exactly one. */
  citations: AnswerCitation[];
}

/** What the AI service picked: the numbers of units, in the order of the answer. */
export interface Picked {
  answer: { units: number[]; mark: string | null }[];
  /** The answer in the words of the model. */
  draft: string | null;
  extractive: boolean;
  model: string | null;
}

export interface Answer {
  /** The id of its charge. */
  id: string;
  organizationId: string;
  sentences: AnswerSentence[];
  /** What the model itself said, which nobody has checked. Null without sentences. */
  draft: { text: string; checked: false } | null;
  /** How many sentences were left out, because their documents are gone. */
  withheld: number;
  /** Whether nothing in the documents answers the question. */
  nothingFound: boolean;
  /** Whether no model picked the sentences. */
  extractive: boolean;
  /** The model that picked them; null if none did. */
  model: string | null;
  credits: number;
}

/** An answer whose sentences keep their numbers, even if sentences before them were removed. */
export interface NumberedAnswer extends Answer {
  sentences: (AnswerSentence & { index: number })[];
  /** The number of sentences before any was removed. */
  total: number;
}

/**
 * Removes citations of documents that were deleted since (docs/rules.md, gone at once). Their sentences are
 * withheld; later ones keep their numbers.
 */
export async function withoutDeleted(db: Db, answer: Answer): Promise<NumberedAnswer> {
  const cited = new Set(answer.sentences.flatMap(({ citations }) => citations.map(({ documentId }) => documentId)));
  const present = cited.size === 0 ? new Set() : new Set((await readDocuments(db, [...cited])).map(({ id }) => id));
  const sentences = answer.sentences
    .map(({ citations, ...sentence }, index) => ({
      ...sentence,
      index,
      citations: citations.filter(({ documentId }) => present.has(documentId)),
    }))
    .filter(({ citations }) => citations.length > 0);
  const total = answer.sentences.length;
  const draft = sentences.length === total ? answer.draft : null;
  return { ...answer, sentences, draft, total, withheld: answer.withheld + total - sentences.length };
}
