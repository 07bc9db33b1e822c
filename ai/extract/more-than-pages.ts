import type { Notice } from './notice.ts';
import type { OpenPdf } from './open-pdf.ts';
import { readString } from './pdfium.ts';

/** A form that a viewer makes of XML, of which the pages are only a placeholder. */
const dynamicXfa = 2;
/** More names are cut off anyway. */
const mostNames = 30;

/** What a PDF has beside its pages, which is not read. `pinned` are the names of files that are attached to places of its pages. */
export function noticesBeside({ pdfium, document }: OpenPdf, pinned: string[]): Notice[] {
  const notices: Notice[] = [];
  if (pdfium.FPDF_GetFormType(document) === dynamicXfa)
    notices.push({
      code: 'xfa_form_not_read',
      text: 'The PDF is an XFA form, which is not read: only the page that stands in for it was.',
    });
  const count = Math.max(0, pdfium.FPDFDoc_GetAttachmentCount(document));
  const names = Array.from({ length: Math.min(count, mostNames) }, (_, index) =>
    nameOf(pdfium, pdfium.FPDFDoc_GetAttachment(document, index)),
  );
  const files = count + pinned.length;
  const named = [...names, ...pinned].slice(0, mostNames).join(', ');
  if (files > 0)
    notices.push({
      code: 'embedded_files_not_read',
      text: `The PDF holds ${files === 1 ? 'a file' : `${files} files`} not read: ${named}`,
    });
  return notices;
}

/** The name of a file in a PDF, from its handle. */
export function nameOf(pdfium: OpenPdf['pdfium'], attachment: number): string {
  const name = attachment === 0 ? '' : readString(pdfium, (buffer, size) => pdfium.FPDFAttachment_GetName(attachment, buffer, size));
  return name.trim() || 'without a name';
}
