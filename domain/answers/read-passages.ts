import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { Outline } from '../../db/schema.ts';
import { countCharacters, forward } from '../characters.ts';
import { pageAt } from '../chunking/cut-chunks.ts';
import { readCsvRecords } from '../chunking/read-csv.ts';
import { inWorkspace } from '../documents/document.ts';
import { outlineWithoutLines } from '../documents/document-text.ts';
import type { FoundChunk } from '../search/find-chunks.ts';
import { cutJsonUnits } from './cut-json-units.ts';
import { cutRecords, cutUnits, type Unit } from './cut-units.ts';

/** How much of a document is read before and after a chunk, in characters, until its first and last unit are whole. */
const margins = [2_000, 64_000];
/** How much of a document is read for its first record, in characters. */
const firstLength = 16_000;
/** The AI service compares no more units for a question. */
const maxUnits = 20_000;

/** A chunk that a search found, with the document's text around it, cut into units. */
export interface Passage {
  documentId: string;
  documentName: string;
  /** The version of the document. */
  version: number;
  /** The page that it begins on; null for kinds that have no pages. */
  page: number | null;
  /** The headings that it begins under. */
  headings: string[];
  /** The pages and headings of the document. */
  outline: Outline;
  /** How surely each page was recognized; null for pages that were not. */
  ocrConfidence: (number | null)[] | null;
  /** The chunk's similarity to the question; null if only words were compared. */
  similarity: number | null;
  /** The document's text around the chunk, and the character of the document that it begins at. */
  text: string;
  textStart: number;
  /** The units of that text, and the character of the document that each begins at. */
  units: Unit[];
  starts: number[];
  /** The indexes of the units that the chunk overlaps, without those of passages before it. */
  own: number[];
}

type CutPassage = Omit<Passage, 'similarity'>;

interface Row extends Omit<CutPassage, 'units' | 'starts' | 'own'> {
  id: string;
  contentType: string;
  start: number;
  end: number;
  /** The beginning of the document. Its first record names the columns of CSV. */
  first: string;
  /** How many quotes stand before the text, of JSON without escaped ones; 0 for other kinds. */
  quotes: number;
  /** If the text begins within a string of JSON: its opening quote, and a backslash if one stands right before the text. Else empty. */
  opening: string;
  isWholeEnd: boolean;
}

/**
 * Reads the units of the documents that chunks have parts of, in the order of the search, each once. Leaves out chunks that cannot be cited,
 * because they are gone, or their positions are unknown: the document was extracted again since, with another text there. A unit that is
 * longer than 64,000 characters is left out, too, rather than cut, and so are the last passages if all have more than 20,000 own units.
 */
export async function readPassages(db: Db, chunks: FoundChunk[]): Promise<Passage[]> {
  const ids = chunks.map(({ id }) => id);
  const passages = new Map<string, CutPassage>();
  for (const margin of margins) {
    const missing = ids.filter((id) => !passages.has(id));
    if (missing.length === 0) break;
    const isLast = margin === margins.at(-1);
    const cuts = shareTexts(await readRows(db, missing, margin)).flatMap((rows) => cutRows(rows, isLast));
    for (const { id, passage, isWhole } of cuts) if (isWhole || isLast) passages.set(id, passage);
  }
  const seen = new Set<string>();
  return chunks.flatMap(({ id, score: similarity }) => {
    const passage = passages.get(id);
    if (!passage) return [];
    const own = passage.own.filter((index) => {
      const key = `${passage.documentId} ${passage.starts[index]}`;
      return !seen.has(key) && seen.add(key);
    });
    return own.length > 0 && seen.size <= maxUnits ? [{ ...passage, own, similarity }] : [];
  });
}

/** The characters of the document at which units begin. The units are in the order of the text, since one pass has to do for thousands. */
export function startsOf({ text, textStart }: Pick<Passage, 'text' | 'textStart'>, units: Unit[]): number[] {
  let [at, index] = [textStart, 0];
  return units.map(({ start }) => {
    at += countCharacters(text.slice(index, start));
    index = start;
    return at;
  });
}

/**
 * Groups rows of a document whose texts overlap, and gives each group one text, to be cut once: in a long list or table the margins of each
 * chunk reach over the others. A row of CSV stays alone, since its text is cut from its own line.
 */
function shareTexts(rows: Row[]): Row[][] {
  const shared: { rows: [Row, ...Row[]]; text: string; end: number; isWholeEnd: boolean }[] = [];
  for (const [documentId, own] of Map.groupBy(rows, (row) => row.documentId)) {
    for (const row of own.toSorted((one, other) => one.textStart - other.textStart)) {
      const { text, textStart, contentType, isWholeEnd } = row;
      const end = textStart + countCharacters(text);
      const last = shared.at(-1);
      if (last?.rows[0].documentId !== documentId || contentType === 'text/csv' || textStart > last.end) {
        shared.push({ rows: [row], text, end, isWholeEnd });
        continue;
      }
      last.rows.push(row);
      last.text += text.slice(forward(text, 0, last.end - textStart));
      last.end = Math.max(last.end, end);
      last.isWholeEnd ||= isWholeEnd;
    }
  }
  return shared.map(({ rows: [first, ...others], text, isWholeEnd }) => {
    const { textStart, quotes, opening } = first;
    return [first, ...others].map((row) => ({ ...row, text, textStart, quotes, opening, isWholeEnd }));
  });
}

/**
 * Cuts the text of rows into units, and picks the own ones of each. A unit is whole if the text reaches to the ends of its paragraph or
 * table; `isWhole`: all own ones are. `isLast`: no more text will be read, so all count as whole. Rows of a table that begins before the
 * text get no heads.
 */
function cutRows(rows: Row[], isLast: boolean): { id: string; passage: CutPassage; isWhole: boolean }[] {
  const [source] = rows;
  if (!source) return [];
  const { text, textStart, outline, contentType, opening, isWholeEnd } = source;
  const isCsv = contentType === 'text/csv';
  const isJson = contentType === 'application/json';
  const cutText = () =>
    isJson
      ? cutJsonUnits(text, { opening, isBegun: textStart > 0, goesOn: !isWholeEnd })
      : cutUnits(text, headingsOf(outline, text, textStart));
  const cut = isCsv ? cutCsv(source, forward(text, 0, source.start - textStart)) : cutText();
  const blanks = [...text.matchAll(/\n\s*\n/g)].map(({ index }) => index);
  const [firstBlank = text.length, lastBlank = -1] = [blanks[0], blanks.at(-1)];
  const isBegun = (unit: Unit) => isCsv || isJson || textStart === 0 || firstBlank < unit.start;
  const isEnded = (unit: Unit) => isCsv || isJson || isWholeEnd || lastBlank >= unit.end;
  // What the ends of the text cut off is no unit.
  const whole = cut.slice(isCsv || textStart === 0 ? 0 : 1, isWholeEnd ? undefined : -1);
  const units = whole.map((unit) => (unit.cells.length > 0 && !isBegun(unit) ? { ...unit, cells: [] } : unit));
  const starts = startsOf(source, units);
  return rows.map(({ id, start, end, documentId, documentName, version, page, headings, ocrConfidence }) => {
    const from = forward(text, 0, start - textStart);
    const to = forward(text, from, end - start);
    const isTouched = (unit: Unit) => unit.start < to && unit.end > from;
    const own = units.flatMap((unit, index) => (isTouched(unit) && (isLast || (isBegun(unit) && isEnded(unit))) ? [index] : []));
    const shown = { documentId, documentName, version, page, headings, outline, ocrConfidence, text, textStart };
    return { id, passage: { ...shown, units, starts, own }, isWhole: own.length === cut.filter(isTouched).length };
  });
}

/** Cuts CSV from the beginning of a chunk's line. After an odd number of quotes that is within a quoted cell: then cells get no heads. */
function cutCsv({ text, textStart, first, isWholeEnd, quotes }: Row, from: number): Unit[] {
  const isFirstCut = countCharacters(first) === firstLength;
  const { end = 0 } = readCsvRecords(first, { isPart: isFirstCut })[0] ?? {};
  const begin = textStart === 0 ? 0 : text.lastIndexOf('\n', from - 1) + 1;
  const isWithinCell = (quotes + text.slice(0, begin).split('"').length - 1) % 2 === 1;
  const isUnknown = isWithinCell || (isFirstCut && end === first.length);
  const units = cutRecords(text.slice(begin), isUnknown ? null : first.slice(0, end), { isPart: !isWholeEnd });
  return units.map((unit) => ({ ...unit, start: unit.start + begin, end: unit.end + begin }));
}

/** The indexes of the headings in a part of a document. */
function headingsOf({ headings }: Outline, text: string, textStart: number): number[] {
  const within = headings.filter(({ start }) => start >= textStart && start < textStart + text.length);
  let [at, passed] = [0, textStart];
  return within.map(({ start }) => {
    at = forward(text, at, start - passed);
    passed = start;
    return at;
  });
}

async function readRows(db: Db, ids: string[], margin: number): Promise<Row[]> {
  // Of one moment, and the outline once for each document: a long one has thousands of headings.
  const { rows } = await sql<Omit<Row, 'outline'> & { outline: Outline | null }>`
    select chunk.id, chunk.document_id as "documentId", document.name as "documentName", document.version, document.content_type as "contentType",
      chunk.text_start as start, chunk.text_end as end, greatest(chunk.text_start - ${margin}, 0) as "textStart",
      substr(document_text.text, greatest(chunk.text_start - ${margin}, 0) + 1,
        chunk.text_end - greatest(chunk.text_start - ${margin}, 0) + ${margin}) as text,
      case when document.content_type = 'text/csv' then left(document_text.text, ${firstLength}) else '' end as first,
      coalesce(counted.quotes, 0) as quotes,
      case when document.content_type = 'application/json'
        then repeat('"', counted.quotes % 2) || case when right(before.text, 1) = '\\' then '\\' else '' end else '' end as opening,
      chunk.text_end + ${margin} >= length(document_text.text) as "isWholeEnd",
      chunk.page, coalesce(chunk.headings, '{}') as headings, extracted_ocr_confidence as "ocrConfidence",
      case when row_number() over (partition by chunk.document_id order by chunk.id) = 1 then ${outlineWithoutLines} end as outline
    from chunk
    join document on document.id = chunk.document_id
    join document_text on document_text.document_id = chunk.document_id
    left join lateral (
      select left(document_text.text, greatest(chunk.text_start - ${margin}, 0)) as written
    ) as begun on document.content_type in ('application/json', 'text/csv')
    left join lateral (
      -- Without pairs of a backslash first: such a one escapes no quote.
      select case when document.content_type = 'application/json'
        then replace(replace(begun.written, '\\\\', ''), '\\"', '') else begun.written end as text
    ) as before on true
    left join lateral (select octet_length(before.text) - octet_length(replace(before.text, '"', '')) as quotes) as counted on true
    where chunk.id = any(${ids}::text[]) and ${inWorkspace} and chunk.text_start is not null
      and (document.extracted_at <= document.indexed_at
        or substr(document_text.text, chunk.text_start + 1, chunk.text_end - chunk.text_start) = chunk.text)
    order by array_position(${ids}::text[], chunk.id)
  `.execute(db);
  const outlines = new Map(rows.flatMap(({ documentId, outline }) => (outline ? [[documentId, outline]] : [])));
  return rows.flatMap((row) => {
    const outline = outlines.get(row.documentId);
    return outline ? [{ ...row, outline }] : [];
  });
}

/** Whether text recognition has read a page of a part of the text: such a page has a confidence. */
export function isRecognized({ outline, ocrConfidence }: Pick<Passage, 'outline' | 'ocrConfidence'>, start: number, end: number): boolean {
  const [first, last] = [start, Math.max(start, end - 1)].map((position) => pageAt(outline, position) ?? 1) as [number, number];
  return ocrConfidence?.slice(first - 1, last).some((confidence) => confidence !== null) ?? false;
}
