import type { Db } from '../../db/connect.ts';
import { readDocuments } from '../documents/document.ts';

/** The part of a document that supports a sentence. Positions count characters of the document's text. */
export interface AnswerCitation {
  documentId: string;
  documentName: string;
  page: number | null;
  headings: string[];
  start: number;
  end: number;
  /** The words of the document, as they stand there. */
  quote: string;
  /** False if letters of recognized text differ from what was cited. */
  exact: boolean;
  /** Whether text recognition has read the page. */
  recognized: boolean;
}

interface AnswerSentence {
  text: string;
  /** At least one. */
  citations: AnswerCitation[];
}

/** An answer as the model wrote it, before its citations are checked. They name passages. */
export interface Written {
  sentences: { text: string; citations: { passage: string; quote: string }[] }[];
  extractive: boolean;
  model: string | null;
}

export interface Answer {
  /** The id of its charge. */
  id: string;
  organizationId: string;
  sentences: AnswerSentence[];
  /** How many sentences were withheld, because their citations do not support them. */
  withheld: number;
  /** Whether nothing in the documents answers the question. */
  nothingFound: boolean;
  /** Whether the sentences are taken from the documents, not written by a model. */
  extractive: boolean;
  /** The model that wrote them; null if none did. */
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
 * Removes citations of documents that were deleted since (docs/rules.md, gone at once). A sentence without another citation is withheld;
 * later sentences keep their numbers.
 */
export async function withoutDeleted(db: Db, answer: Answer): Promise<NumberedAnswer> {
  const cited = new Set(answer.sentences.flatMap(({ citations }) => citations.map(({ documentId }) => documentId)));
  const present = cited.size === 0 ? new Set() : new Set((await readDocuments(db, [...cited])).map(({ id }) => id));
  const sentences = answer.sentences
    .map(({ text, citations }, index) => ({ text, index, citations: citations.filter(({ documentId }) => present.has(documentId)) }))
    .filter(({ citations }) => citations.length > 0);
  const total = answer.sentences.length;
  return { ...answer, sentences, total, withheld: answer.withheld + total - sentences.length };
}
