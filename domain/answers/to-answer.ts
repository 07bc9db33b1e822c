import { pageAt } from '../chunking/cut-chunks.ts';
import { pathAt } from '../chunking/heading-paths.ts';
import type { Answer, AnswerCitation, Written } from './answer.ts';
import { type ProvenCitation, proveSentence, type QuotedPassage } from './prove-sentence.ts';
import { isRecognized, type Passage } from './read-passages.ts';

/** An answer before it is charged for. */
type Proven = Omit<Answer, 'id' | 'organizationId' | 'credits'>;

/** Checks an answer against the passages from which it was written, and withholds the sentences that they do not support. */
export function toAnswer(question: string, { sentences: written, extractive, model }: Written, passages: Passage[]): Proven {
  const byId = new Map(passages.map((passage) => [passage.id, passage]));
  const quoted = new Map(passages.map((passage) => [passage.id, toQuoted(passage)]));
  const sentences = written.flatMap((sentence) => {
    const proof = proveSentence(sentence, quoted, question);
    if (!proof.holds) return [];
    const citations = proof.citations.flatMap((citation) => {
      const passage = byId.get(citation.passage);
      return passage ? [toCitation(passage, citation)] : [];
    });
    return [{ text: sentence.text, citations }];
  });
  return { sentences, withheld: written.length - sentences.length, nothingFound: written.length === 0, extractive, model };
}

/** The answer if no passage was found. */
export const nothing: Proven = { sentences: [], withheld: 0, nothingFound: true, extractive: true, model: null };

function toQuoted({ around, start, aroundStart, recognized, documentName, headings }: Passage): QuotedPassage {
  return { text: around, start: aroundStart, passageStart: start, recognized, labels: [documentName, ...headings] };
}

function toCitation(passage: Passage, { quote, start, end, exact }: ProvenCitation): AnswerCitation {
  const { documentId, documentName, outline } = passage;
  const [page, headings] = [pageAt(outline, start), pathAt(outline.headings, start)];
  return { documentId, documentName, page, headings, start, end, quote, exact, recognized: isRecognized(passage, start, end) };
}
