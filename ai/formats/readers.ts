import type { Reader } from './embedded-file.ts';

/** Loads a reader with the first document of its kind: a process that loads all at its start takes twice the time and memory for it. */
type Load = () => Promise<Reader>;

const readers: Record<string, Load> = {
  'application/pdf': async () => (await import('./pdf/read-pdf.ts')).readPdf,
  'text/html': async () => (await import('./web/read-html.ts')).readHtml,
  'text/plain': async () => (await import('./text/read-text.ts')).readPlain,
  'text/markdown': async () => (await import('./text/read-text.ts')).readMarkdown,
  'text/csv': async () => (await import('./text/read-text.ts')).readPlain,
  'application/json': async () => (await import('./text/read-json.ts')).readJson,
};

const office = 'application/vnd.openxmlformats-officedocument';

/** The readers of the kinds that a deployment turns on. */
const extraReaders: Record<string, Load> = {
  [`${office}.wordprocessingml.document`]: async () => (await import('./word/read-docx.ts')).readDocx,
  [`${office}.presentationml.presentation`]: async () => (await import('./slides/read-pptx.ts')).readPptx,
  [`${office}.spreadsheetml.sheet`]: async () => (await import('./sheet/read-xlsx.ts')).readXlsx,
  'application/vnd.oasis.opendocument.text': async () => (await import('./opendocument/read-odt.ts')).readOdt,
  'application/epub+zip': async () => (await import('./web/read-epub.ts')).readEpub,
  'message/rfc822': async () => (await import('./mail/read-eml.ts')).readEml,
  'application/rtf': async () => (await import('./rtf/read-rtf.ts')).readRtf,
};

/** What loads the reader of a media type (parameters removed), if this deployment reads it. Images go through OCR instead. */
export function readerOf(mediaType: string, extra: readonly string[] = []): Load | undefined {
  if (Object.hasOwn(readers, mediaType)) return readers[mediaType];
  return extra.includes(mediaType) ? extraReaders[mediaType] : undefined;
}
