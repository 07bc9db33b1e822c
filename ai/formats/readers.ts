import type { Reader } from './embedded-file.ts';
import { readEml } from './mail/read-eml.ts';
import { readOdt } from './opendocument/read-odt.ts';
import { readPdf } from './pdf/read-pdf.ts';
import { readRtf } from './rtf/read-rtf.ts';
import { readXlsx } from './sheet/read-xlsx.ts';
import { readPptx } from './slides/read-pptx.ts';
import { decodeText } from './text/decode-text.ts';
import { markMarkdownHeadings } from './text/markdown-headings.ts';
import { readJson } from './text/read-json.ts';
import { readEpub } from './web/read-epub.ts';
import { readHtml } from './web/read-html.ts';
import { readDocx } from './word/read-docx.ts';

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
