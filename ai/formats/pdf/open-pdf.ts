import { ServiceError } from '../../service-error.ts';
import { loadPdfium, type Pdfium, withMemory } from './pdfium.ts';

const pdfError = { password: 4, security: 5 };

/** A PDF that is open. */
export interface OpenPdf {
  pdfium: Pdfium;
  /** Its handle. */
  document: number;
  /** The handle of its form; 0 if it has none. */
  form: number;
}

/** Opens a PDF for `work`. Throws ServiceError 422 `encrypted_document` or `unreadable_document`. */
export async function withPdf<T>(bytes: Uint8Array, work: (pdf: OpenPdf) => T): Promise<T> {
  const pdfium = await loadPdfium();
  return withMemory(pdfium, bytes.length, (address) => {
    if (address === 0) throw unreadable();
    pdfium.pdfium.HEAPU8.set(bytes, address);
    const document = openDocument(pdfium, address, bytes.length);
    try {
      return withForm(pdfium, document, (form) => work({ pdfium, document, form }));
    } finally {
      pdfium.FPDF_CloseDocument(document);
    }
  });
}

/** Loads a page, from 0, for `work`, which gets no handle if it is damaged. */
export function withPage<T>({ pdfium, document, form }: OpenPdf, index: number, work: (page: number | undefined) => T): T {
  const page = pdfium.FPDF_LoadPage(document, index);
  if (page === 0) return work(undefined);
  // Otherwise no box of the page is ticked.
  if (form !== 0) pdfium.FORM_OnAfterLoadPage(page, form);
  try {
    return work(page);
  } finally {
    if (form !== 0) pdfium.FORM_OnBeforeClosePage(page, form);
    pdfium.FPDF_ClosePage(page);
  }
}

export function unreadable(): ServiceError {
  return new ServiceError(422, 'unreadable_document', 'The PDF is damaged or is no PDF.');
}

function openDocument(pdfium: Pdfium, address: number, length: number): number {
  const document = pdfium.FPDF_LoadMemDocument(address, length, '');
  if (document !== 0) return document;
  const error = pdfium.FPDF_GetLastError();
  if (error !== pdfError.password && error !== pdfError.security) throw unreadable();
  throw new ServiceError(422, 'encrypted_document', 'The PDF is encrypted and opens only with a password.');
}

function withForm<T>(pdfium: Pdfium, document: number, work: (form: number) => T): T {
  if (pdfium.FPDF_GetFormType(document) === 0) return work(0);
  const info = pdfium.PDFiumExt_OpenFormFillInfo();
  const form = pdfium.PDFiumExt_InitFormFillEnvironment(document, info);
  try {
    return work(form);
  } finally {
    if (form !== 0) pdfium.PDFiumExt_ExitFormFillEnvironment(form);
    pdfium.PDFiumExt_CloseFormFillInfo(info);
  }
}
