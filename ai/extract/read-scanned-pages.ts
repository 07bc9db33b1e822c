import { countCharacters } from '../characters.ts';
import { ServiceError } from '../service-error.ts';
import type { RawText, SourceDocument } from './document.ts';
import { type PdfPages, toRawText } from './read-pdf.ts';

/** How far text recognition has come with a PDF: how many of its scanned pages are read. */
export interface ScanProgress {
  read: number;
  of: number;
}

/** What reads the pages, and within which bounds. */
export interface ScanReader {
  /** Renders a page, from 0, as a PNG. */
  render(index: number, signal: AbortSignal): Promise<Uint8Array>;
  recognize(image: SourceDocument, signal: AbortSignal): Promise<RawText>;
  maxPages: number;
  maxTextCharacters: number;
  /** For all pages together. */
  timeoutMs: number;
  onProgress?: ((progress: ScanProgress) => void) | undefined;
}

/**
 * Reads the pages of a PDF that have no text, one after the other, so that a long document leaves room for others. Pages beyond
 * `maxPages`, and those that are not read in time, stay without text, and the text is marked as incomplete. Throws ServiceError 502
 * `ocr_timeout` if no page was read in time, what the reader throws, or the signal's reason.
 */
export async function readScannedPages(found: PdfPages, reader: ScanReader, signal: AbortSignal): Promise<RawText> {
  const chosen = found.scanned.slice(0, reader.maxPages);
  const texts = [...found.texts];
  let characters = texts.reduce((sum, text) => sum + countCharacters(text), 0);
  let read = 0;
  const deadline = AbortSignal.timeout(reader.timeoutMs);
  const either = AbortSignal.any([signal, deadline]);
  try {
    for (const index of chosen) {
      if (characters > reader.maxTextCharacters) break;
      const image = { bytes: await reader.render(index, either), mediaType: 'image/png', charset: undefined };
      const { text } = await reader.recognize(image, either);
      texts[index] = text;
      characters += countCharacters(text);
      read += 1;
      reader.onProgress?.({ read, of: chosen.length });
    }
  } catch (error) {
    if (!deadline.aborted || signal.aborted) throw error;
    // Another attempt would begin with the first page, and come no further.
    if (read === 0) {
      const within = `within ${reader.timeoutMs / 1000} seconds`;
      throw new ServiceError(502, 'ocr_timeout', `None of ${chosen.length} scanned pages was read ${within}.`);
    }
  }
  return { ...toRawText({ ...found, texts, stoppedEarly: found.stoppedEarly || read < found.scanned.length }), ocrPages: read };
}
