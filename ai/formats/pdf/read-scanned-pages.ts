import { pause } from '../../../base/concurrency/pause.ts';
import { countCharacters } from '../../characters.ts';
import { ServiceError } from '../../service-error.ts';
import type { RawText, SourceDocument } from '../document.ts';
import type { RecognizedLine } from '../locate-lines.ts';
import type { NoticeCode } from '../notice.ts';
import { joinLayers } from './join-layers.ts';
import { type PdfPages, toRawText } from './read-pdf.ts';

/** How far text recognition has come with a PDF: how many of its scanned pages are read. */
export interface ScanProgress {
  read: number;
  of: number;
}

/** When a caller has no time left, in milliseconds of `performance.now()`, and how much it had. */
export interface Deadline {
  endsAt: number;
  seconds: number;
}

/** The reader of the pages, and its bounds. */
export interface ScanReader {
  /** Renders a page, from 0, as a PNG. */
  render(index: number, signal: AbortSignal): Promise<Uint8Array>;
  /** Recognizes the text of a page. */
  recognize(image: SourceDocument, signal: AbortSignal): Promise<RawText>;
  maxTextCharacters: number;
  /** For all pages together. */
  deadline: Deadline;
  onProgress?: ((progress: ScanProgress) => void) | undefined;
}

/** After so many pages in a row that fail through no fault of their own, text recognition is taken to be down. */
const downAfter = 3;
const minPauseMs = 1_000;

/**
 * Reads the scanned pages of a PDF one at a time, so that a long document leaves capacity to others: those without text before those with a
 * stamp. Pages that fail or come too late keep their own text, and the text counts as incomplete. Throws what the reader throws if no page was
 * read or has text, or recognition is down while pages lack text; 502 `ocr_timeout` if none was read in time; the signal's reason.
 */
export async function readScannedPages(found: PdfPages, reader: ScanReader, signal: AbortSignal): Promise<RawText> {
  const scanned = byNeed(found);
  const texts = [...found.texts];
  const ocrConfidence: (number | null)[] = texts.map(() => null);
  const pageLines: RecognizedLine[][] = texts.map(() => []);
  let characters = texts.reduce((sum, text) => sum + countCharacters(text), 0);
  let read = 0;
  const recognized = new Set<number>();
  const said = new Map<number, NoticeCode[]>();
  const noticesOf = (index: number): NoticeCode[] => said.get(index) ?? (found.scanned.includes(index) ? ['scan_over_limit'] : []);
  const missed = new MissedPages(scanned.filter((index) => needsReading(found, index)));
  const { endsAt, seconds } = reader.deadline;
  const deadline = AbortSignal.timeout(Math.max(0, Math.floor(endsAt - performance.now())));
  const turn = { signal: AbortSignal.any([signal, deadline]), endsAt };
  try {
    for (const index of scanned) {
      if (characters > reader.maxTextCharacters || missed.isDown) break;
      const page = await readPage(index, reader, turn);
      if (page instanceof ServiceError) {
        missed.add(page, index);
        said.set(index, ['scan_failed']);
        continue;
      }
      missed.endRow();
      said.set(index, []);
      read += 1;
      reader.onProgress?.({ read, of: scanned.length });
      const layer = texts[index] ?? '';
      const confidence = page.ocrConfidence?.[0] ?? null;
      const text = joinLayers(layer, { text: page.text, confidence });
      if (layer !== '' && text === layer) continue;
      said.set(index, page.pageNotices?.[0] ?? []);
      texts[index] = text;
      ocrConfidence[index] = confidence;
      pageLines[index] = page.pageLines?.[0] ?? [];
      recognized.add(index);
      characters += countCharacters(text) - countCharacters(layer);
    }
  } catch (error) {
    if (!deadline.aborted || signal.aborted) throw error;
    // Another attempt would begin at the first page again, and get no further.
    if (read === 0 && missed.needsAny) throw missed.failure ?? missed.refusal ?? outOfTime(scanned.length, seconds);
  }
  if (read === 0 && missed.failure) throw missed.failure;
  if (missed.refusal && texts.every((text) => text.trim() === '')) throw missed.refusal;
  const raw = toRawText({ ...found, texts, stoppedEarly: found.stoppedEarly || read < found.scanned.length });
  const isMended = (code: NoticeCode, index: number) => code === 'unmapped_text_left_out' && recognized.has(index);
  const pageNotices = raw.pageNotices.map((codes, index) => [...codes.filter((code) => !isMended(code, index)), ...noticesOf(index)]);
  return { ...raw, ocrPages: recognized.size, ocrConfidence, pageNotices, pageLines };
}

/** The pages to read, first those without a text. */
function byNeed({ scanned, texts }: PdfPages): number[] {
  const isBare = (index: number) => (texts[index] ?? '') === '';
  return [...scanned.filter(isBare), ...scanned.filter((index) => !isBare(index))];
}

/**
 * Whether the text of the document is incomplete without this scanned page: the page has no text of its own, or only scanned pages have
 * text, which are stamps then.
 */
function needsReading({ scanned, texts }: PdfPages, index: number): boolean {
  const isTyped = texts.some((text, page) => text !== '' && !scanned.includes(page));
  return (texts[index] ?? '') === '' || !isTyped;
}

/** Why pages were not read. */
class MissedPages {
  /** The first reason that is the page's own. */
  refusal: ServiceError | undefined;
  /** The first reason that may be that of text recognition, of a page that needs to be read. */
  failure: ServiceError | undefined;
  /** Text recognition fails on every page, or asks for a wait that is too long. */
  isDown = false;
  readonly #needed: number[];
  #inRow = 0;

  /** Takes the pages that need to be read. */
  constructor(needed: number[]) {
    this.#needed = needed;
  }

  get needsAny(): boolean {
    return this.#needed.length > 0;
  }

  /** Notes why a page was not read. Throws the error if it is one too many in a row. */
  add(error: ServiceError, index: number): void {
    if (error.ofDocument) {
      this.refusal ??= error;
      return;
    }
    this.#inRow += 1;
    this.isDown = this.#inRow === downAfter || error.retryAfterSeconds !== undefined;
    if (this.#needed.includes(index)) this.failure ??= error;
    // The next attempt reads the pages again, together with the others.
    if (this.#inRow === downAfter && this.failure) throw error;
  }

  endRow(): void {
    this.#inRow = 0;
  }
}

/** The signal that ends the reading, and when it will, in milliseconds of `performance.now()`. */
interface Turn {
  signal: AbortSignal;
  endsAt: number;
}

/** The text of one page, or why it has none. Throws the signal's reason, or what is no error of a service. */
async function readPage(index: number, reader: ScanReader, { signal, endsAt }: Turn): Promise<RawText | ServiceError> {
  for (;;) {
    try {
      const image = { bytes: await reader.render(index, signal), mediaType: 'image/png', charset: undefined };
      return await reader.recognize(image, signal);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.ofDocument || error.retryAfterSeconds === undefined) return error;
      const pauseMs = Math.max(minPauseMs, error.retryAfterSeconds * 1000);
      if (performance.now() + pauseMs >= endsAt) return error;
      await pause(pauseMs, signal);
    }
  }
}

function outOfTime(pages: number, seconds: number): ServiceError {
  return new ServiceError(502, 'ocr_timeout', `None of ${pages} scanned pages was read within ${seconds} seconds.`);
}
