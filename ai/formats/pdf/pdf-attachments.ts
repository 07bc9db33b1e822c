import { ServiceError } from '../../service-error.ts';
import type { EmbeddedFile, ReadEmbedded } from '../embedded-file.ts';
import type { Notice } from '../notice.ts';
import { type OpenPdf, withPage } from './open-pdf.ts';
import { type Pdfium, readBytes, readString } from './pdfium.ts';
import { readXfaData, readXfaValues } from './xfa-values.ts';

/** Kinds of forms with XML: one that a viewer makes of it, of which the pages are only a placeholder, and one whose pages have its fields. */
const xfa = { dynamic: 2, static: 3 };
/** More names are cut off anyway, and of more files none is read. */
const maxFiles = 50;

/** What a PDF has beside its pages, as bytes. */
export interface Attachments {
  files: EmbeddedFiles;
  /** The data of a form of XML; null if it has none. Undefined if the PDF is no such form. */
  xfaData: Uint8Array | null | undefined;
}

/** Takes the files out of a PDF, as long as they have no more than so many bytes together. */
export class EmbeddedFiles {
  readonly files: EmbeddedFile[] = [];
  count = 0;
  readonly #pdfium: Pdfium;
  #restBytes: number;

  constructor(pdfium: Pdfium, maxBytes: number) {
    this.#pdfium = pdfium;
    this.#restBytes = maxBytes;
  }

  /** Takes the file with this handle. Without bytes if it has none, or too many. */
  add(attachment: number): void {
    this.count += 1;
    if (this.files.length >= maxFiles) return;
    const pdfium = this.#pdfium;
    const name = attachment && readString(pdfium, (buffer, size) => pdfium.FPDFAttachment_GetName(attachment, buffer, size)).trim();
    const read = (buffer: number, size: number, length: number) => pdfium.FPDFAttachment_GetFile(attachment, buffer, size, length);
    const bytes = (attachment && readBytes(pdfium, this.#restBytes, read)) || new Uint8Array();
    this.#restBytes -= bytes.length;
    this.files.push({ name: name || 'without a name', bytes });
  }
}

/** Takes what an open PDF has beside its pages. `files` has those that are attached to places of its pages already. */
export function readAttachments(pdf: OpenPdf, files: EmbeddedFiles, maxBytes: number): Attachments {
  const { pdfium, document } = pdf;
  const count = Math.max(0, pdfium.FPDFDoc_GetAttachmentCount(document));
  for (let index = 0; index < Math.min(count, maxFiles); index += 1) files.add(pdfium.FPDFDoc_GetAttachment(document, index));
  files.count += Math.max(0, count - maxFiles);
  return { files, xfaData: isMadeOfXml(pdf) ? (readXfaData(pdfium, document, maxBytes) ?? null) : undefined };
}

/** Whether the page of a form only stands in for it: not all programs say so, but then it has no fields. */
function isMadeOfXml(pdf: OpenPdf): boolean {
  const type = pdf.pdfium.FPDF_GetFormType(pdf.document);
  if (type !== xfa.static) return type === xfa.dynamic;
  return (
    pdf.pdfium.FPDF_GetPageCount(pdf.document) === 1 && withPage(pdf, 0, (page) => !page || pdf.pdfium.FPDFPage_GetAnnotCount(page) <= 0)
  );
}

/** The texts of what a PDF has beside its pages, and notices of what was not read. */
export async function readBeside(
  { files, xfaData }: Attachments,
  readEmbedded: ReadEmbedded,
): Promise<{ attached: string[]; notices: Notice[] }> {
  const attached: string[] = [];
  const notices: Notice[] = [];
  if (xfaData !== undefined) {
    const values = xfaData === null ? '' : await readXfaValues(xfaData).catch(noneIfUnreadable);
    if (values !== '') attached.push(values);
    notices.push(noticeOfXfa(values !== ''));
  }
  const unread: string[] = [];
  for (const file of files.files) {
    const found = await readEmbedded(file);
    if (!found) unread.push(file.name);
    else {
      attached.push(found.text);
      notices.push(...found.notices);
    }
  }
  const count = files.count - files.files.length + unread.length;
  if (count > 0)
    notices.push({
      code: 'embedded_files_not_read',
      text: `The PDF holds ${count === 1 ? 'a file' : `${count} files`} not read: ${unread.join(', ')}`,
    });
  return { attached, notices };
}

function noneIfUnreadable(error: unknown): string {
  if (error instanceof ServiceError) return '';
  throw error;
}

function noticeOfXfa(isRead: boolean): Notice {
  const text = isRead
    ? 'The PDF is an XFA form: its values were read, with the names of their fields, and the page that stands in for it; its labels were not.'
    : 'The PDF is an XFA form, which is not read: only the page that stands in for it was.';
  return { code: 'xfa_form_not_read', text };
}
