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
 * `maxPages`, those that cannot be read, and those that are not read in time, stay without text, and the text is marked as incomplete.
 * Throws ServiceError 502 `ocr_timeout` if no page was read in time, what the reader throws if that may pass or no page has text, or the
 * signal's reason.
 */
export async function readScannedPages(found: PdfPages, reader: ScanReader, signal: AbortSignal): Promise<RawText> {
  const chosen = found.scanned.slice(0, reader.maxPages);
  const texts = [...found.texts];
  const confidence: (number | null)[] = texts.map(() => null);
  let characters = texts.reduce((sum, text) => sum + countCharacters(text), 0);
  let read = 0;
  let refusal: ServiceError | undefined;
  const deadline = AbortSignal.timeout(reader.timeoutMs);
  const either = AbortSignal.any([signal, deadline]);
  try {
    for (const index of chosen) {
      if (characters > reader.maxTextCharacters) break;
      const page = await readPage(index, reader, either);
      if ('refusal' in page) {
        refusal ??= page.refusal;
        continue;
      }
      texts[index] = page.text;
      confidence[index] = page.ocrConfidence?.[0] ?? null;
      characters += countCharacters(page.text);
      read += 1;
      reader.onProgress?.({ read, of: chosen.length });
    }
  } catch (error) {
    if (!deadline.aborted || signal.aborted) throw error;
    // Another attempt would begin with the first page, and come no further.
    if (read === 0) throw refusal ?? outOfTime(chosen.length, reader.timeoutMs);
  }
  if (refusal && texts.every((text) => text.trim() === '')) throw refusal;
  const raw = toRawText({ ...found, texts, stoppedEarly: found.stoppedEarly || read < found.scanned.length });
  return { ...raw, ocrPages: read, ocrConfidence: confidence };
}

/** The text of one page, or why it will never have one. Throws what may pass. */
async function readPage(index: number, reader: ScanReader, signal: AbortSignal): Promise<RawText | { refusal: ServiceError }> {
  try {
    const image = { bytes: await reader.render(index, signal), mediaType: 'image/png', charset: undefined };
    return await reader.recognize(image, signal);
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return { refusal: error };
    throw error;
  }
}

function outOfTime(pages: number, timeoutMs: number): ServiceError {
  return new ServiceError(502, 'ocr_timeout', `None of ${pages} scanned pages was read within ${timeoutMs / 1000} seconds.`);
}
