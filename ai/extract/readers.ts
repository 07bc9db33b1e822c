import { decodeText } from './decode-text.ts';
import type { Reader } from './embedded-file.ts';
import { readDocx } from './kinds/read-docx.ts';
import { readEml } from './kinds/read-eml.ts';
import { readEpub } from './kinds/read-epub.ts';
import { readOdt } from './kinds/read-odt.ts';
import { readPptx } from './kinds/read-pptx.ts';
import { readRtf } from './kinds/read-rtf.ts';
import { readXlsx } from './kinds/read-xlsx.ts';
import { markMarkdownHeadings } from './markdown-headings.ts';
import { readHtml } from './read-html.ts';
import { readJson } from './read-json.ts';
import { readPdf } from './read-pdf.ts';

const readPlain: Reader = ({ bytes, charset }) => ({ ...decodeText(bytes, charset), pages: null });

const readMarkdown: Reader = (document) => {
  const raw = decodeText(document.bytes, document.charset);
  return { ...raw, text: markMarkdownHeadings(raw.text), pages: null };
};

const readers: Record<string, Reader> = {
  'application/pdf': readPdf,
  'text/html': readHtml,
  'text/plain': readPlain,
  'text/markdown': readMarkdown,
  'text/csv': readPlain,
  'application/json': readJson,
};

/** The readers of the kinds that a deployment turns on. */
const extraReaders: Record<string, Reader> = {
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': readDocx,
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': readPptx,
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': readXlsx,
  'application/vnd.oasis.opendocument.text': readOdt,
  'application/epub+zip': readEpub,
  'message/rfc822': readEml,
  'application/rtf': readRtf,
};

/** The reader of a media type (parameters removed), if this deployment reads it. Images go through OCR instead. */
export function readerOf(mediaType: string, extra: readonly string[] = []): Reader | undefined {
  if (Object.hasOwn(readers, mediaType)) return readers[mediaType];
  return extra.includes(mediaType) ? extraReaders[mediaType] : undefined;
}
