import { serveTasks } from '../sandbox/serve-tasks.ts';
import { type ExtractLimits, isImage, type SourceDocument, unwrapUpload } from './document.ts';
import { extractText, finish } from './extract-text.ts';
import { loadPdfium } from './pdf/pdfium.ts';
import { type PdfPages, readPdfPages, renderPdfPage, toRawText } from './pdf/read-pdf.ts';
import { embeddedReader } from './read-embedded.ts';
import { checkContent } from './recognize-content.ts';

interface UploadTask {
  body: Uint8Array;
  contentType: string | undefined;
  limits: ExtractLimits;
}

interface SummaryTask {
  text: string;
  maxSentences: number;
}

/** A page of a PDF that text recognition is to read. */
export interface PageTask {
  bytes: Uint8Array;
  /** From 0. */
  index: number;
  /** Only its pictures are to be read, since its text is known. */
  withoutText: boolean;
}

/** The contents of an upload: text, an image that needs OCR, or a PDF with some pages that need it. */
export type ExtractOutcome =
  | { kind: 'text'; extracted: Awaited<ReturnType<typeof extractText>> }
  | { kind: 'image'; image: SourceDocument }
  | { kind: 'scan'; document: SourceDocument; found: PdfPages };

// Entry of the processes that read documents and rank sentences: the work that takes long or that a hostile input can break.
serveTasks(
  {
    extract: async ({ body, contentType, limits }: UploadTask): Promise<ExtractOutcome> => {
      const document = unwrapUpload(body, contentType, limits.maxUploadBytes);
      if (isImage(document.mediaType)) return { kind: 'image', image: document };
      const scans = limits.readsScannedPdfs && document.mediaType === 'application/pdf' && document.bytes.length > 0;
      if (!scans) return { kind: 'text', extracted: await extractText(document, limits) };
      checkContent(document);
      const found = await readPdfPages(document, limits, embeddedReader(limits));
      if (found.scanned.length > 0) return { kind: 'scan', document, found };
      return { kind: 'text', extracted: finish(toRawText(found), document.mediaType, limits.maxTextCharacters) };
    },
    renderPage: ({ bytes, index, withoutText }: PageTask) => renderPdfPage(bytes, index, withoutText),
    summarize: async ({ text, maxSentences }: SummaryTask) =>
      (await import('../summaries/summarize-text.ts')).summarizeText(text, maxSentences),
  },
  async () => {
    await loadPdfium();
    return null;
  },
);
