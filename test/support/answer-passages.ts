import type { Outline } from '../../db/schema.ts';
import { cutUnits } from '../../domain/answers/cut-units.ts';
import { type Passage, startsOf } from '../../domain/answers/read-passages.ts';
import { toUnits } from '../../domain/answers/to-answer.ts';

/** A whole document as one passage. */
export function passageOf(text: string, { name = 'notes.txt', headings = [] as Outline['headings'] } = {}): Passage {
  const units = cutUnits(
    text,
    headings.map(({ start }) => start),
  );
  return {
    ...{
      documentId: name,
      version: 1,
      documentName: name,
      page: null,
      headings: [],
      ocrConfidence: null,
      similarity: null,
      text,
      textStart: 0,
      units,
    },
    starts: startsOf({ text, textStart: 0 }, units),
    outline: { characters: text.length, pages: null, headings },
    own: units.map((_, index) => index),
  };
}

/** Passages of these texts, as the AI service compares them. */
export function unitsOf(...texts: string[]) {
  return texts.map((text) => toUnits(passageOf(text)));
}
