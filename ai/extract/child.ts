import { serveTasks } from '../pool/serve-tasks.ts';
import { summarizeText } from '../summarize/summarize-text.ts';
import { extractText } from './extract-text.ts';
import { isImage } from './media-type.ts';
import { loadPdfium } from './pdfium.ts';
import type { ExtractLimits, SourceDocument } from './types.ts';
import { unwrapUpload } from './unwrap-upload.ts';

interface UploadTask {
  body: Uint8Array;
  contentType: string | undefined;
  limits: ExtractLimits;
}

interface SummaryTask {
  text: string;
  maxSentences: number;
}

/** What an upload turned out to be: text, or an image for the OCR. */
export type ExtractOutcome =
  | { kind: 'text'; extracted: Awaited<ReturnType<typeof extractText>> }
  | { kind: 'image'; image: SourceDocument };

// Entry of the processes that read documents and rank sentences: all that costs time and may fail on a hostile input.
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
