import type { ExtractLimits, RawText, SourceDocument } from './document.ts';
import type { Notice } from './notice.ts';

/** A file that a document holds. */
export interface EmbeddedFile {
  name: string;
  /** The type that the document gives it, if any. Its name counts where this is of no kind that is read. */
  mediaType?: string | undefined;
  bytes: Uint8Array;
}

/** The text of a file within a document, below its name as a heading, and what was left out of it. */
export interface EmbeddedText {
  text: string;
  notices: Notice[];
}

/** Reads a file within a document; undefined if it is of a kind that is not read, damaged, without text, or one too many. */
export type ReadEmbedded = (file: EmbeddedFile) => Promise<EmbeddedText | undefined>;

/** Reads a kind of document, and the files within it by `readEmbedded`. */
export type Reader = (document: SourceDocument, limits: ExtractLimits, readEmbedded: ReadEmbedded) => RawText | Promise<RawText>;
