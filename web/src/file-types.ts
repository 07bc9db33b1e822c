import type { ContentType } from '@sheaf/client';

const byExtension: Record<string, ContentType> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
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

/** The type by the name, as the service knows it: browsers differ in what they call Markdown, and whether they call it anything. */
export function contentTypeOf(name: string): ContentType | undefined {
  return byExtension[name.slice(name.lastIndexOf('.') + 1).toLowerCase()];
}

export const acceptedExtensions = Object.keys(byExtension).map((extension) => `.${extension}`);
