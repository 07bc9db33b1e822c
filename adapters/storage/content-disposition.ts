import { create } from 'content-disposition';

/**
 * The Content-Disposition of a download (RFC 6266): always an attachment, with the name in `filename*` if it is not plain ASCII, and
 * a fallback in `filename` for clients that do not support that parameter.
 */
export function contentDisposition(fileName: string): string {
  return create(fileName.toWellFormed(), { fallback: asciiFallback(fileName) });
}

/** The name without accents, and without characters that are special in a header, a shell or a file system. */
function asciiFallback(fileName: string): string {
  const plain = fileName
    .normalize('NFKD')
    .replace(/\p{Mark}+/gu, '')
    .replace(/[^ -~]|["%*/:<>?\\|]/gu, '_');
  return plain.replace(/^\.+/, '_') || 'document';
}
