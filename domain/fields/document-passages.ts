import type { Outline } from '../../db/schema.ts';
import type { QuotedPassage } from '../answers/prove-sentence.ts';
import { back, forward } from '../characters.ts';
import { cutChunks } from '../chunking/cut-chunks.ts';

const size = { characters: 1_200, overlap: 0 };
/** How much of the text is read before and after a passage, in characters: a quote may begin in one and end in the next. */
const margin = 300;

/** A part of a document's own text. */
export interface DocumentPassage {
  id: string;
  text: string;
  page: number | null;
  headings: string[];
  /** Where each further page begins, in the text of the document. */
  laterPages: number[];
  /** The text in which quotes of the passage are looked up. */
  quoted: QuotedPassage;
  /** The confidence of text recognition for the page, from 0 to 1; 1 for other pages. */
  certainty: number;
}

interface ReadDocument {
  contentType: string;
  text: string;
  outline: Outline;
  /** The confidence of text recognition for each page, in percent; null for other pages. */
  ocrConfidence: (number | null)[] | null | undefined;
}

/** Cuts a whole document into passages, in order. */
export function cutPassages({ contentType, text, outline, ocrConfidence }: ReadDocument): DocumentPassage[] {
  let [passed, characters] = [0, 0];
  return cutChunks(text, outline, { contentType, size }).map(({ text: chunk, position }, index) => {
    const { start, page, headings, pageBreaks } = position;
    passed = forward(text, passed, start - characters);
    characters = start;
    const before = back(text, passed, margin);
    const after = forward(text, passed + chunk.length, margin);
    const confidence = ocrConfidence?.[(page ?? 1) - 1] ?? null;
    return {
      id: String(index + 1),
      text: chunk,
      page,
      headings,
      laterPages: (pageBreaks ?? []).map((pageStart) => start + pageStart),
      quoted: {
        text: text.slice(before, after),
        start: start - Math.min(start, margin),
        recognized: confidence !== null,
        labels: [],
      },
      certainty: confidence === null ? 1 : confidence / 100,
    };
  });
}
