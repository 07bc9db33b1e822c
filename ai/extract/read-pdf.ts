import { countCharacters } from '../characters.ts';
import { ServiceError } from '../service-error.ts';
import type { ExtractLimits, RawText, SourceDocument } from './document.ts';
import { layOutPage } from './lay-out-page.ts';
import { joinPages } from './outline.ts';
import { loadPdfium, type Pdfium, withMemory } from './pdfium.ts';

const pdfError = { password: 4, security: 5 };

/**
 * Reads the text layer of a PDF, page by page, until the limit of characters is exceeded. Throws ServiceError:
 * 413 `too_many_pages`, 422 `encrypted_document`, `unreadable_document` or `empty_document`.
 */
export async function readPdf({ bytes }: SourceDocument, limits: ExtractLimits): Promise<RawText> {
  const pdfium = await loadPdfium();
  return withMemory(pdfium, bytes.length, (address) => {
    if (address === 0) throw unreadable();
    pdfium.pdfium.HEAPU8.set(bytes, address);
    const document = openDocument(pdfium, address, bytes.length);
    try {
      return readPages(pdfium, document, limits);
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

function readPages(pdfium: Pdfium, document: number, limits: ExtractLimits): RawText {
  const pages = pdfium.FPDF_GetPageCount(document);
  if (pages <= 0) throw new ServiceError(422, 'empty_document', 'The PDF has no pages.');
  if (pages > limits.maxPdfPages) {
    throw new ServiceError(413, 'too_many_pages', `The PDF has ${pages} pages; at most ${limits.maxPdfPages} are read.`);
  }
  const pageTexts: string[] = [];
  let characters = 0;
  let broken = 0;
  for (let index = 0; index < pages; index += 1) {
    const text = readPage(pdfium, document, index);
    if (text === undefined) broken += 1;
    pageTexts.push(text ?? '');
    characters += countCharacters(text ?? '');
    if (characters > limits.maxTextCharacters && index + 1 < pages)
      return { text: joinPages(pageTexts), pages, pageTexts, stoppedEarly: true };
  }
  if (broken === pages) throw unreadable();
  return { text: joinPages(pageTexts), pages, pageTexts };
}

/** The text of one page; undefined if the page itself is damaged. */
function readPage(pdfium: Pdfium, document: number, index: number): string | undefined {
  const page = pdfium.FPDF_LoadPage(document, index);
  if (page === 0) return undefined;
  const textPage = pdfium.FPDFText_LoadPage(page);
  try {
    return textPage === 0 ? undefined : layOutPage(pdfium, textPage);
  } finally {
    if (textPage !== 0) pdfium.FPDFText_ClosePage(textPage);
    pdfium.FPDF_ClosePage(page);
  }
}

function unreadable(): ServiceError {
  return new ServiceError(422, 'unreadable_document', 'The PDF is damaged or is no PDF.');
}
