import { serveTasks } from '../pool/serve-tasks.ts';
import { summarizeText } from '../summarize/summarize-text.ts';
import { type ExtractLimits, isImage, type SourceDocument, unwrapUpload } from './document.ts';
import { extractText } from './extract-text.ts';
import { loadPdfium } from './pdfium.ts';

interface UploadTask {
  body: Uint8Array;
  contentType: string | undefined;
  limits: ExtractLimits;
}

interface SummaryTask {
  text: string;
  maxSentences: number;
}

/** What an upload contained: text, or an image that needs OCR. */
export type ExtractOutcome =
  | { kind: 'text'; extracted: Awaited<ReturnType<typeof extractText>> }
  | { kind: 'image'; image: SourceDocument };

// Entry of the processes that read documents and rank sentences: the work that takes long or that a hostile input can break.
serveTasks(
  {
    extract: async ({ body, contentType, limits }: UploadTask): Promise<ExtractOutcome> => {
      const document = unwrapUpload(body, contentType, limits.maxUploadBytes);
      if (isImage(document.mediaType)) return { kind: 'image', image: document };
      return { kind: 'text', extracted: await extractText(document, limits) };
    },
    summarize: ({ text, maxSentences }: SummaryTask) => summarizeText(text, maxSentences),
  },
  async () => {
    await loadPdfium();
    return null;
  },
);
