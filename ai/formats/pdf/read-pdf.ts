import { countCharacters } from '../../characters.ts';
import { ServiceError } from '../../service-error.ts';
import type { ExtractLimits, RawText, SourceDocument } from '../document.ts';
import type { ReadEmbedded } from '../embedded-file.ts';
import type { Notice, NoticeCode } from '../notice.ts';
import { joinPages } from '../outline.ts';
import { findUnmapped, type Unmapped } from './find-unmapped.ts';
import { readTyped, type Typed } from './form-and-annotation-text.ts';
import { hideLayers, mayHaveLayeredForms } from './hide-layers.ts';
import { hideUnseen } from './hide-unseen.ts';
import { layOutLines } from './lay-out-page.ts';
import { type OpenPdf, unreadable, withPage, withPdf } from './open-pdf.ts';
import { isRightToLeft } from './order-right-to-left.ts';
import { shownBoxOf } from './page-box.ts';
import type { Line } from './page-line.ts';
import { objectsOf, type PageObject } from './page-objects.ts';
import { type Attachments, EmbeddedFiles, readAttachments, readBeside } from './pdf-attachments.ts';
import { markPdfHeadings } from './pdf-headings.ts';
import { joinTables } from './pdf-tables.ts';
import type { Pdfium } from './pdfium.ts';
import { readLines } from './read-lines.ts';
import { hideText, renderPage } from './render-page.ts';
import { findRuledLines } from './ruled-lines.ts';
import { leaveOutRunningLines } from './running-lines.ts';
import { isScanned } from './scanned-page.ts';

/** The text layer of a PDF, by page. */
export interface PdfPages {
  /** The text of each page that was read, from the first on, with its headings marked; empty if it has none. */
  texts: string[];
  /** How many pages there are. */
  pages: number;
  /** The pages, from 0, that are pictures of text, also with a stamp upon them. */
  scanned: number[];
  /** Those of them whose letters are not known: what is known of their text, does not stand beside their pictures but within them. */
  unmapped: number[];
  /** What was left out of each page. */
  pageNotices: NoticeCode[][];
  /** What was left out of the document. */
  notices: Notice[];
  /** The texts of what it has beside its pages. */
  attached: string[];
  /** Reading stopped before the last page, because there was enough text. */
  stoppedEarly: boolean;
}

/** Reads the text layer of a PDF. Throws as {@link readPdfPages}. */
export async function readPdf(document: SourceDocument, limits: ExtractLimits, readEmbedded: ReadEmbedded): Promise<RawText> {
  const found = await readPdfPages(document, limits, readEmbedded);
  const { texts, scanned, unmapped, attached } = found;
  if (unmapped.length > 0 && [...texts, ...attached].every((text) => text === '')) throw withoutLetters();
  const raw = toRawText(found);
  return {
    ...raw,
    pageNotices: raw.pageNotices.map((codes, index) =>
      scanned.includes(index) && !unmapped.includes(index) ? [...codes, 'scan_not_read'] : codes,
    ),
  };
}

/** The text of a document from those of its pages. */
export function toRawText({
  texts,
  pages,
  pageNotices,
  notices,
  attached,
  stoppedEarly,
}: Omit<PdfPages, 'scanned' | 'unmapped'>): RawText & Pick<PdfPages, 'pageNotices'> {
  return { text: joinPages(texts), pages, pageTexts: texts, pageNotices, notices, attached, stoppedEarly };
}

/**
 * Reads the text layer of a PDF, page by page, until the limit of characters is exceeded. Throws ServiceError:
 * 413 `too_many_pages`, 422 `encrypted_document`, `unreadable_document` or `empty_document`.
 */
export async function readPdfPages({ bytes }: SourceDocument, limits: ExtractLimits, readEmbedded: ReadEmbedded): Promise<PdfPages> {
  const { attachments, ...found } = await withPdf(bytes, (pdf) => readPages(pdf, limits, mayHaveLayeredForms(bytes)));
  return { ...found, ...(await readBeside(attachments, readEmbedded)) };
}

/** Renders a page, from 0, of a PDF as a PNG, also without its text. Throws ServiceError 422 `unreadable_document`. */
export function renderPdfPage(bytes: Uint8Array, index: number, withoutText: boolean): Promise<Buffer> {
  return withPdf(bytes, (pdf) =>
    withPage(pdf, index, (page) => {
      if (page !== undefined && withoutText) hideText(pdf.pdfium, page);
      const image = page === undefined ? undefined : renderPage(pdf, page);
      if (!image) throw new ServiceError(422, 'unreadable_document', `Page ${index + 1} of the PDF cannot be rendered.`);
      return image;
    }),
  );
}

function readPages(
  pdf: OpenPdf,
  limits: ExtractLimits,
  hasLayeredForms: boolean,
): Omit<PdfPages, 'notices' | 'attached'> & { attachments: Attachments } {
  const pages = pdf.pdfium.FPDF_GetPageCount(pdf.document);
  if (pages <= 0) throw new ServiceError(422, 'empty_document', 'The PDF has no pages.');
  if (pages > limits.maxPdfPages) {
    throw new ServiceError(413, 'too_many_pages', `The PDF has ${pages} pages; at most ${limits.maxPdfPages} are read.`);
  }
  const read: Line[][] = [];
  const scanned: number[] = [];
  const unmapped: number[] = [];
  const pageNotices: NoticeCode[][] = [];
  const files = new EmbeddedFiles(pdf.pdfium, limits.maxUploadBytes);
  let isBlank = true;
  let characters = 0;
  let broken = 0;
  for (let index = 0; index < pages && characters <= limits.maxTextCharacters; index += 1) {
    const page = withPage(pdf, index, (handle) => (handle === undefined ? undefined : readPage(pdf, handle, { hasLayeredForms, files })));
    if (page === undefined) broken += 1;
    if (page?.scanned) scanned.push(index);
    if (page && !page.isBlank) isBlank = false;
    if (page?.unmapped) unmapped.push(index);
    pageNotices.push(page?.notices ?? []);
    read.push(page?.lines ?? []);
    characters += (page?.lines ?? []).reduce((sum, { text }) => sum + countCharacters(text) + 1, 0);
  }
  if (broken === pages) throw unreadable();
  if (isBlank && pdf.pdfium.EPDF_IsEncrypted(pdf.document)) throw stillEncrypted();
  const marked = markPdfHeadings(leaveOutRunningLines(read).map(joinTables));
  return {
    texts: marked.map(layOutLines),
    pages,
    scanned,
    unmapped,
    pageNotices,
    attachments: readAttachments(pdf, files, limits.maxUploadBytes),
    stoppedEarly: read.length < pages,
  };
}

/** What is read of one page. */
interface PageRead {
  lines: Line[];
  scanned: boolean;
  unmapped: boolean;
  notices: NoticeCode[];
  /** Nothing is on it. */
  isBlank: boolean;
}

/** Reads a page that is loaded; undefined if it is damaged. */
function readPage(
  { pdfium, form }: OpenPdf,
  page: number,
  { hasLayeredForms, files }: { hasLayeredForms: boolean; files: EmbeddedFiles },
): PageRead | undefined {
  const { typed, hasNotes } = readTyped(pdfium, page, form, files);
  const hidesLayers = hideLayers(pdfium, page, hasLayeredForms);
  const objects = objectsOf(pdfium, page);
  const hidesUnseen = hideUnseen(pdfium, page, { hasLayeredForms, objects });
  const found = readUpright(pdfium, page, { typed, objects });
  if (!found) return undefined;
  const { lines, unmapped } = found;
  // Places on a page of Hebrew or Arabic are counted from the right, with a minus.
  const sign = isRightToLeft(lines.map(({ text }) => text).join('')) ? -1 : 1;
  const content = lines.filter((line) => line.typed === undefined).map((line) => ({ ...line, x: line.x && sign * line.x }));
  const notices: NoticeCode[] = [];
  if (hasNotes) notices.push('notes_left_out');
  if (hidesLayers) notices.push('layers_left_out');
  if (hidesUnseen) notices.push('unseen_text_left_out');
  if (unmapped.ofWords) notices.push('unmapped_text_left_out');
  const isBlank = lines.every(({ text }) => text === '') && pdfium.FPDFPage_CountObjects(page) === 0;
  return {
    lines,
    isBlank,
    scanned: unmapped.ofPage || isScanned(pdfium, page, { objects, lines: content }),
    unmapped: unmapped.ofPage,
    notices,
  };
}

/** The lines of a page, and which of its characters are not known. */
interface LinesRead {
  lines: Line[];
  unmapped: Unmapped;
}

interface Drawn {
  typed: Typed[];
  objects: PageObject[];
}

/**
 * The lines of a page as it is shown. If most of its text then lies on its side or upside down, the page is first rotated until the text is
 * upright: otherwise PDFium reads the lines of some pages in reverse.
 */
function readUpright(pdfium: Pdfium, page: number, drawn: Drawn): LinesRead | undefined {
  const shown = pdfium.FPDFPage_GetRotation(page);
  const asShown = readTurned(pdfium, page, shown, drawn);
  if (!asShown || isUpright(asShown.lines)) return asShown;
  try {
    for (const quarters of [1, 2, 3]) {
      const turns = (shown + quarters) % 4;
      pdfium.FPDFPage_SetRotation(page, turns);
      const turned = readTurned(pdfium, page, turns, drawn);
      if (turned && isUpright(turned.lines)) return turned;
    }
    return asShown;
  } finally {
    pdfium.FPDFPage_SetRotation(page, shown);
  }
}

function readTurned(pdfium: Pdfium, page: number, turns: number, { typed, objects }: Drawn): LinesRead | undefined {
  const textPage = pdfium.FPDFText_LoadPage(page);
  if (textPage === 0) return undefined;
  try {
    const unmapped = findUnmapped(pdfium, textPage);
    const ruled = findRuledLines(pdfium, objects, turns);
    return {
      lines: readLines(pdfium, textPage, { turns, typed, wrong: unmapped.wrong, shown: shownBoxOf(pdfium, page), ruled }),
      unmapped,
    };
  } finally {
    pdfium.FPDFText_ClosePage(textPage);
  }
}

/** Whether at least half of the text stands upright. */
function isUpright(lines: Line[]): boolean {
  const lengthOf = (some: Line[]) => some.reduce((sum, { text }) => sum + text.length, 0);
  return lengthOf(lines.filter(({ upright }) => upright)) * 2 >= lengthOf(lines);
}

function stillEncrypted(): ServiceError {
  return new ServiceError(422, 'encrypted_document', 'The PDF is encrypted, and nothing of it could be decrypted.');
}

function withoutLetters(): ServiceError {
  const reason = 'The fonts of the PDF do not say which letters they show, so it has no text that could be read.';
  return new ServiceError(422, 'unreadable_document', `${reason} With OCR_SCANNED_PDF text recognition reads it.`);
}
