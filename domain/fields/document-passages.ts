import type { Outline } from '../../db/schema.ts';
import { cutJsonUnits } from '../answers/cut-json-units.ts';
import { cutRecords, cutUnits, readable, type Unit } from '../answers/cut-units.ts';
import { countCharacters, forward } from '../characters.ts';
import { cutChunks, pageAt } from '../chunking/cut-chunks.ts';
import { readCsvRecords } from '../chunking/read-csv.ts';

const size = { characters: 1_200, overlap: 0 };

/** A unit of a document, with its text, and the same with the heads of a row's cells. */
export interface DocumentUnit extends Unit {
  text: string;
  readable: string;
}

/** A part of a document's own text. */
export interface DocumentPassage {
  id: string;
  text: string;
  page: number | null;
  headings: string[];
  /** The units that it has a part of. */
  units: DocumentUnit[];
}

/** A document that was cut into passages. */
export interface CutDocument {
  text: string;
  outline: Outline;
  /** All units, in order. */
  units: DocumentUnit[];
  passages: DocumentPassage[];
  ocrConfidence: (number | null)[] | null | undefined;
}

interface ReadDocument {
  contentType: string;
  text: string;
  outline: Outline;
  /** The confidence of text recognition for each page, in percent; null for other pages. */
  ocrConfidence: (number | null)[] | null | undefined;
}

/** Cuts a whole document into passages, in order. */
export function cutPassages({ contentType, text, outline, ocrConfidence }: ReadDocument): CutDocument {
  const units = readUnits(contentType, text, outline);
  let [passed, characters] = [0, 0];
  const passages = cutChunks(text, outline, { contentType, size }).map(({ text: chunk, position }, index) => {
    passed = forward(text, passed, position.start - characters);
    characters = position.start;
    const end = passed + chunk.length;
    const own = units.filter((unit) => unit.start < end && unit.end > passed);
    return { id: String(index + 1), text: chunk, page: position.page, headings: position.headings, units: own };
  });
  return { text, outline, units, passages, ocrConfidence };
}

function readUnits(contentType: string, text: string, { headings }: Outline): DocumentUnit[] {
  let [index, characters] = [0, 0];
  const starts = headings.map(({ start }) => {
    index = forward(text, index, start - characters);
    characters = start;
    return index;
  });
  const first = contentType === 'text/csv' ? readCsvRecords(text)[0] : undefined;
  const cutText = () => (contentType === 'application/json' ? cutJsonUnits(text) : cutUnits(text, starts));
  const units = first ? cutRecords(text, text.slice(0, first.end)) : cutText();
  return units.map((unit) => ({ ...unit, text: text.slice(unit.start, unit.end), readable: readable(text, unit) }));
}

/** The place of units in the text of their document, in characters, with the confidence of text recognition for its page, from 0 to 1. */
export function placeOf({ text, outline, ocrConfidence }: CutDocument, { start: from, end: to }: { start: number; end: number }) {
  const start = countCharacters(text.slice(0, from));
  const page = pageAt(outline, start);
  const confidence = ocrConfidence?.[(page ?? 1) - 1] ?? null;
  const end = start + countCharacters(text.slice(from, to));
  return { page, start, end, recognized: confidence !== null, certainty: confidence === null ? 1 : confidence / 100 };
}
