/** The limits of one extraction. */
export interface ExtractLimits {
  maxUploadBytes: number;
  maxTextCharacters: number;
  maxPdfPages: number;
}

/** A document as the extractor takes it. */
export interface SourceDocument {
  bytes: Uint8Array;
  /** Media type in lower case, without parameters. */
  mediaType: string;
  /** The `charset` parameter, if one was given. */
  charset: string | undefined;
}

/** What a reader of one kind of document finds, before it is cleaned and cut. */
export interface RawText {
  text: string;
  pages: number | null;
  /** The reader stopped early since it had enough. */
  stoppedEarly?: boolean;
}

/** Answer of `/v1/extract`. `characters` counts the Unicode code points of `text`. */
export interface ExtractedText {
  text: string;
  characters: number;
  pages: number | null;
  truncated: boolean;
  content_type: string;
}
