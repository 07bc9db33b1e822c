import type { ContentType } from './types.ts';

/** The extensions of files that services take, some only if their operator has turned the type on. */
export const contentTypesByExtension: Record<string, ContentType> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  text: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  htm: 'text/html',
  json: 'application/json',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  odt: 'application/vnd.oasis.opendocument.text',
  epub: 'application/epub+zip',
  eml: 'message/rfc822',
  rtf: 'application/rtf',
};

/** The content type of a file by the extension of its name or path; undefined if no service takes it. */
export function contentTypeOf(name: string): ContentType | undefined {
  const [, extension = ''] = /\.([^./\\]+)$/.exec(name.toLowerCase()) ?? [];
  return Object.hasOwn(contentTypesByExtension, extension) ? contentTypesByExtension[extension] : undefined;
}
