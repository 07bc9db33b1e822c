import type { Db } from '../../db/connect.ts';
import { readDocuments } from '../documents/document.ts';

/** A place in a document that bears a sentence out. Positions count characters of the document's text. */
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

/** An answer as it was written, before anything in it is proven. Citations name passages. */
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
  /** How many sentences were withheld, since their citations do not bear them out. */
  withheld: number;
  /** Whether nothing in the documents responds to the question. */
  nothingFound: boolean;
  /** Whether the sentences are the documents' own. */
  extractive: boolean;
  /** The model that wrote them; null if none did. */
  model: string | null;
  credits: number;
}

/** An answer with each sentence at its place, also if others before it are gone. */
export interface NumberedAnswer extends Answer {
  sentences: (AnswerSentence & { index: number })[];
  /** How many there were. */
  total: number;
}

/**
 * An answer without the citations of documents that have been deleted since (docs/rules.md, gone at once). A sentence that has no other is
 * withheld; those after it keep their number.
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
