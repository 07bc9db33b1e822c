import { countCharacters } from '../characters.ts';
import { ServiceError } from '../service-error.ts';
import type { ExtractLimits, RawText, SourceDocument } from './document.ts';
import { layOutLines } from './lay-out-page.ts';
import type { NoticeCode } from './notice.ts';
import { joinPages } from './outline.ts';
import type { Line } from './page-line.ts';
import { markPdfHeadings } from './pdf-headings.ts';
import { joinTables } from './pdf-tables.ts';
import { loadPdfium, type Pdfium, withMemory } from './pdfium.ts';
import { readLines } from './read-lines.ts';
import { hideText, renderPage } from './render-page.ts';
import { leaveOutRunningLines } from './running-lines.ts';
import { isScanned } from './scanned-page.ts';

const pdfError = { password: 4, security: 5 };

/** The text layer of a PDF, by page. */
export interface PdfPages {
  /** The text of each page that was read, from the first on, with its headings marked; empty if it has none. */
  texts: string[];
  /** How many pages there are. */
  pages: number;
  /** The pages, from 0, that are pictures of text, also with a stamp upon them. */
  scanned: number[];
  /** Reading stopped before the last page, because there was enough text. */
  stoppedEarly: boolean;
}

/** Reads the text layer of a PDF. Throws as {@link readPdfPages}. */
export async function readPdf(document: SourceDocument, limits: ExtractLimits): Promise<RawText> {
  const found = await readPdfPages(document, limits);
  const pageNotices = found.texts.map((_, index): NoticeCode[] => (found.scanned.includes(index) ? ['scan_not_read'] : []));
  return { ...toRawText(found), pageNotices };
}

/** The text of a document from those of its pages. */
export function toRawText({ texts, pages, stoppedEarly }: Omit<PdfPages, 'scanned'>): RawText {
  return { text: joinPages(texts), pages, pageTexts: texts, stoppedEarly };
}

/**
 * Reads the text layer of a PDF, page by page, until the limit of characters is exceeded. Throws ServiceError:
 * 413 `too_many_pages`, 422 `encrypted_document`, `unreadable_document` or `empty_document`.
 */
export function readPdfPages({ bytes }: SourceDocument, limits: ExtractLimits): Promise<PdfPages> {
  return withDocument(bytes, (pdfium, document) => readPages(pdfium, document, limits));
}

/** Renders a page, from 0, of a PDF as a PNG, also without its text. Throws ServiceError 422 `unreadable_document`. */
export function renderPdfPage(bytes: Uint8Array, index: number, withoutText: boolean): Promise<Buffer> {
  return withDocument(bytes, (pdfium, document) => {
    const page = pdfium.FPDF_LoadPage(document, index);
    try {
      if (page !== 0 && withoutText) hideText(pdfium, page);
      const image = page === 0 ? undefined : renderPage(pdfium, page);
      if (!image) throw new ServiceError(422, 'unreadable_document', `Page ${index + 1} of the PDF cannot be rendered.`);
      return image;
    } finally {
      if (page !== 0) pdfium.FPDF_ClosePage(page);
    }
  });
}

async function withDocument<T>(bytes: Uint8Array, work: (pdfium: Pdfium, document: number) => T): Promise<T> {
  const pdfium = await loadPdfium();
  return withMemory(pdfium, bytes.length, (address) => {
    if (address === 0) throw unreadable();
    pdfium.pdfium.HEAPU8.set(bytes, address);
    const document = openDocument(pdfium, address, bytes.length);
    try {
      return work(pdfium, document);
    } finally {
      pdfium.FPDF_CloseDocument(document);
    }
  });
}

function openDocument(pdfium: Pdfium, address: number, length: number): number {
  const document = pdfium.FPDF_LoadMemDocument(address, length, '');
  if (document !== 0) return document;
  const error = pdfium.FPDF_GetLastError();
  if (error !== pdfError.password && error !== pdfError.security) throw unreadable();
  throw new ServiceError(422, 'encrypted_document', 'The PDF is encrypted and opens only with a password.');
}

function readPages(pdfium: Pdfium, document: number, limits: ExtractLimits): PdfPages {
  const pages = pdfium.FPDF_GetPageCount(document);
  if (pages <= 0) throw new ServiceError(422, 'empty_document', 'The PDF has no pages.');
  if (pages > limits.maxPdfPages) {
    throw new ServiceError(413, 'too_many_pages', `The PDF has ${pages} pages; at most ${limits.maxPdfPages} are read.`);
  }
  const read: Line[][] = [];
  const scanned: number[] = [];
  let characters = 0;
  let broken = 0;
  for (let index = 0; index < pages && characters <= limits.maxTextCharacters; index += 1) {
    const page = readPage(pdfium, document, index);
    if (page === undefined) broken += 1;
    if (page?.scanned) scanned.push(index);
    read.push(page?.lines ?? []);
    characters += (page?.lines ?? []).reduce((sum, { text }) => sum + countCharacters(text) + 1, 0);
  }
  if (broken === pages) throw unreadable();
  const marked = markPdfHeadings(leaveOutRunningLines(read).map(joinTables));
  return { texts: marked.map(layOutLines), pages, scanned, stoppedEarly: read.length < pages };
}

/** The lines of one page; undefined if the page itself is damaged. */
function readPage(pdfium: Pdfium, document: number, index: number): { lines: Line[]; scanned: boolean } | undefined {
  const page = pdfium.FPDF_LoadPage(document, index);
  if (page === 0) return undefined;
  try {
    const lines = readUpright(pdfium, page);
    return lines && { lines, scanned: isScanned(pdfium, page, lines) };
  } finally {
    pdfium.FPDF_ClosePage(page);
  }
}

/**
 * The lines of a page as it is shown. If most of its text then lies on its side or upside down, the page is first rotated until the text is
 * upright: otherwise PDFium reads the lines of some pages in reverse.
 */
function readUpright(pdfium: Pdfium, page: number): Line[] | undefined {
  const shown = pdfium.FPDFPage_GetRotation(page);
  const asShown = readTurned(pdfium, page, shown);
  if (!asShown || isUpright(asShown)) return asShown;
  try {
    for (const quarters of [1, 2, 3]) {
      const turns = (shown + quarters) % 4;
      pdfium.FPDFPage_SetRotation(page, turns);
      const lines = readTurned(pdfium, page, turns);
      if (lines && isUpright(lines)) return lines;
    }
    return asShown;
  } finally {
    pdfium.FPDFPage_SetRotation(page, shown);
  }
}

function readTurned(pdfium: Pdfium, page: number, turns: number): Line[] | undefined {
  const textPage = pdfium.FPDFText_LoadPage(page);
  if (textPage === 0) return undefined;
  try {
    return readLines(pdfium, textPage, turns);
  } finally {
    pdfium.FPDFText_ClosePage(textPage);
  }
}

/** Whether at least half of the text stands upright. */
function isUpright(lines: Line[]): boolean {
  const lengthOf = (some: Line[]) => some.reduce((sum, { text }) => sum + text.length, 0);
  return lengthOf(lines.filter(({ upright }) => upright)) * 2 >= lengthOf(lines);
}

function unreadable(): ServiceError {
  return new ServiceError(422, 'unreadable_document', 'The PDF is damaged or is no PDF.');
}
