import { sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { ExtractionNotice, Outline } from '../../db/schema.ts';
import { lockForEffects } from '../locks.ts';
import { DocumentGone, type DocumentRow } from './document.ts';

/** The extracted text of a document; null if none is stored. */
export async function getText(db: Db, documentId: string): Promise<string | null> {
  return (await findText(db, documentId))?.text ?? null;
}

/** An outline as a term of SQL, without the places of recognized lines: a long scan has many thousands. */
export const outlineWithoutLines = sql<Outline>`document_text.outline - 'lines'`;

/** The extracted text of a document with its {@link outlineWithoutLines}; undefined if no text is stored. */
export async function findText(db: Db, documentId: string): Promise<{ text: string; outline: Outline } | undefined> {
  const outline = outlineWithoutLines.as('outline');
  return await db.selectFrom('document_text').select(['text', outline]).where('document_id', '=', documentId).executeTakeFirst();
}

/** The position of a page in a text, in characters. */
interface TextPage {
  /** The page's number, from 1. */
  number: number;
  start: number;
  end: number;
  /** The lines that text recognition has read on it, with their boxes as shares of the page. Absent if there are none. */
  lines?: { start: number; end: number; left: number; top: number; width: number; height: number }[];
}

/** Finds a page of a document's text; null if no text is stored. Throws NOT_FOUND if the document has no such page. */
export async function findTextPage(db: Db, document: DocumentRow, number: number): Promise<TextPage | null> {
  if (document.extracted_at === null) return null;
  if (number > (document.extracted_pages ?? 0)) throw new ApiError('NOT_FOUND', { message: 'The document has no such page.' });
  const row = await db.selectFrom('document_text').select('outline').where('document_id', '=', document.id).executeTakeFirst();
  if (!row) return null;
  const { pages, pagesEnd, characters, lines = [] } = row.outline;
  const [start, end] = [pages?.[number - 1] ?? characters, pages?.[number] ?? pagesEnd ?? characters];
  const own = lines.filter(([at]) => at >= start && at < end);
  return { number, start, end, ...(own.length > 0 ? { lines: own.map(toLine) } : {}) };
}

function toLine([start, end, ...box]: NonNullable<Outline['lines']>[number]) {
  const [left, top, width, height] = box.map((share) => share / 10_000) as [number, number, number, number];
  return { start, end, left, top, width, height };
}

/** The text of a page, without the white space around it. */
export async function readTextPage(db: Db, documentId: string, { start, end }: TextPage): Promise<string> {
  const row = await db
    .selectFrom('document_text')
    .select(sql<string>`substr(text, ${start + 1}, ${end - start})`.as('text'))
    .where('document_id', '=', documentId)
    .executeTakeFirst();
  return row?.text.trim() ?? '';
}

export interface ExtractedText {
  text: string;
  characters: number;
  pages: number | null;
  truncated: boolean;
  outline: Outline;
  /** Of the bytes that were read, if the document had none yet. */
  sha256?: string | undefined;
  /** How many pages text recognition has read, if any. */
  ocrPages?: number | undefined;
  /** The confidence of text recognition for each page, in percent; null for pages without a result. */
  ocrConfidence?: (number | null)[] | undefined;
  /** What was left out or had to be guessed, if anything. */
  notices?: ExtractionNotice[] | undefined;
}

/** Thrown if a document's text was replaced while a job worked with it. */
export class TextReplaced extends Error {
  constructor() {
    super('The text of the document was replaced meanwhile.');
    this.name = 'TextReplaced';
  }
}

/** Locks a document. Throws {@link TextReplaced} if it is an upload that another document has become, which gets its jobs; DocumentGone. */
async function lockForText(trx: Transaction, document: DocumentRow): Promise<DocumentRow> {
  return await lockForEffects(trx, document).catch(async (error) => {
    const other = trx.selectFrom('document').select('id').where('object_key', '=', document.object_key);
    throw error instanceof DocumentGone && (await other.executeTakeFirst()) ? new TextReplaced() : error;
  });
}

/**
 * Keeps a document's text as it is until the transaction ends. Throws {@link TextReplaced} if it is no longer `text`, which was read with
 * `document`; DocumentGone if the document has been deleted.
 */
export async function keepText(trx: Transaction, document: DocumentRow, text: string): Promise<void> {
  const now = await lockForText(trx, document);
  if (now.extracted_at?.getTime() === document.extracted_at?.getTime()) return;
  // A document that is extracted again usually has the same text as before.
  const same = trx.selectFrom('document_text').select('document_id').where('document_id', '=', document.id).where('text', '=', text);
  if (!(await same.executeTakeFirst())) throw new TextReplaced();
}

/**
 * Stores a document's extracted text. Chunks of an earlier text that are staged for the switch of its workspace are deleted. Throws
 * {@link TextReplaced} if the document has another content by now, DocumentGone if it has been deleted.
 */
export async function storeText(trx: Transaction, document: DocumentRow, extracted: ExtractedText): Promise<void> {
  // The content was replaced while this text was read from the one before.
  if ((await lockForText(trx, document)).object_key !== document.object_key) throw new TextReplaced();
  await trx
    .updateTable('document')
    .set({
      ...(extracted.sha256 === undefined ? {} : { sha256: extracted.sha256 }),
      extracted_characters: extracted.characters,
      extracted_pages: extracted.pages,
      extracted_truncated: extracted.truncated,
      extracted_ocr_pages: extracted.ocrPages ?? null,
      extracted_ocr_confidence: extracted.ocrConfidence ?? null,
      extracted_notices: extracted.notices?.length ? JSON.stringify(extracted.notices) : null,
      extracted_at: sql`clock_timestamp()`,
      updated_at: sql`clock_timestamp()`,
    })
    .where('id', '=', document.id)
    .execute();
  await trx.deleteFrom('staged_index').where('document_id', '=', document.id).execute();
  const stored = { text: extracted.text, outline: JSON.stringify(extracted.outline) };
  await trx
    .insertInto('document_text')
    .values({ document_id: document.id, ...stored })
    .onConflict((conflict) => conflict.column('document_id').doUpdateSet(stored))
    .execute();
}
