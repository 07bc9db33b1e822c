import { create } from 'content-disposition';

/**
 * The Content-Disposition of a download (RFC 6266): always an attachment, with the name itself in `filename*` where it is more than
 * harmless ASCII, and a fallback in `filename` for clients that do not know that parameter.
 */
export function contentDisposition(fileName: string): string {
  return create(fileName.toWellFormed(), { fallback: asciiFallback(fileName) });
}

/** The name without accents, and without what a header, a shell or a file system reads as more than a letter of a name. */
function asciiFallback(fileName: string): string {
  const plain = fileName
    .normalize('NFKD')
    .replace(/\p{Mark}+/gu, '')
    .replace(/[^ -~]|["%*/:<>?\\|]/gu, '_');
  return plain.replace(/^\.+/, '_') || 'document';
}
