import { readHtmlPart } from '../web/read-html.ts';
import { type Box, isWithin, shownBoxOf } from './page-box.ts';
import { readPageText } from './page-text.ts';
import type { EmbeddedFiles } from './pdf-attachments.ts';
import { type Pdfium, readString, withMemory } from './pdfium.ts';

/** Text that stands upon a page without being of its content: the value of a field, or an annotation. */
export interface Typed {
  text: string;
  /** Where, on the page as it is stored. */
  box: Box;
  /** A box to tick, which is no larger than its sign. */
  tick: boolean;
}

/** What stands upon a page. */
interface TypedText {
  typed: Typed[];
  /** There are notes that are shown only when they are opened. */
  hasNotes: boolean;
}

const kinds = { freeText: 3, stamp: 13, file: 17, widget: 20, watermark: 24 };
/** Those that hold a comment: notes, lines, shapes, markings of text, carets and ink. */
const commented = [1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15];
const fields = { button: 1, tickBox: 2, radio: 3, combo: 4, list: 5, text: 6, signature: 7 };
/** A field that shows what its own script makes of its value, such as `1,250.00` of 1250. */
const formatting = 13;
const passwordField = 1 << 13;
/** Hidden, and shown only when printed. */
const unseen = (1 << 1) | (1 << 5);
const rectBytes = 16;

/**
 * Reads what stands upon a page that is loaded. `form` is the handle of the document's form, or 0 if it has none; `files` takes the files
 * that are attached to places of the page.
 */
export function readTyped(pdfium: Pdfium, page: number, form: number, files: EmbeddedFiles): TypedText {
  const shown = shownBoxOf(pdfium, page);
  const typed: Typed[] = [];
  let hasNotes = false;
  for (let index = 0; index < pdfium.FPDFPage_GetAnnotCount(page); index += 1) {
    const annotation = pdfium.FPDFPage_GetAnnot(page, index);
    if (annotation === 0) continue;
    const one = new Annotation(pdfium, annotation, form);
    try {
      if (one.isHidden) continue;
      hasNotes ||= one.isNote;
      if (one.file !== undefined) files.add(one.file);
      const text = one.text;
      const { left, bottom, right, top } = one.box;
      const isSeen = !shown || isWithin(shown, (left + right) / 2, (bottom + top) / 2);
      if (text !== '' && isSeen) typed.push({ text, box: one.box, tick: one.tick !== undefined });
    } finally {
      pdfium.FPDFPage_CloseAnnot(annotation);
    }
  }
  return { typed, hasNotes };
}

class Annotation {
  readonly #pdfium: Pdfium;
  readonly #handle: number;
  readonly #form: number;
  readonly #kind: number;
  /** The kind of a field, or a number that is none. */
  readonly #field: number;

  constructor(pdfium: Pdfium, handle: number, form: number) {
    this.#pdfium = pdfium;
    this.#handle = handle;
    this.#form = form;
    this.#kind = pdfium.FPDFAnnot_GetSubtype(handle);
    this.#field = this.#kind === kinds.widget && form !== 0 ? pdfium.FPDFAnnot_GetFormFieldType(form, handle) : -1;
  }

  get isHidden(): boolean {
    return (this.#pdfium.FPDFAnnot_GetFlags(this.#handle) & unseen) !== 0;
  }

  /** Whether it says something that a page does not show. */
  get isNote(): boolean {
    return commented.includes(this.#kind) && this.#entry('Contents').trim() !== '';
  }

  /** The handle of the file that is attached by it. */
  get file(): number | undefined {
    return this.#kind === kinds.file ? this.#pdfium.FPDFAnnot_GetFileAttachment(this.#handle) : undefined;
  }

  /** The sign of a box to tick. */
  get tick(): string | undefined {
    if (this.#field !== fields.tickBox && this.#field !== fields.radio) return undefined;
    return this.#pdfium.FPDFAnnot_IsChecked(this.#form, this.#handle) ? '[x]' : '[ ]';
  }

  /** What it shows, with line ends `\n`; empty if that is nothing, or no text. */
  get text(): string {
    return this.#shownText().replace(/\r\n?/g, '\n').trim();
  }

  get box(): Box {
    return withMemory(this.#pdfium, rectBytes, (scratch) => {
      if (!this.#pdfium.FPDFAnnot_GetRect(this.#handle, scratch)) return { left: 0, bottom: 0, right: 0, top: 0 };
      const [left = 0, top = 0, right = 0, bottom = 0] = new Float32Array(this.#pdfium.pdfium.HEAPU8.buffer, scratch, 4);
      return { left: Math.min(left, right), bottom: Math.min(bottom, top), right: Math.max(left, right), top: Math.max(bottom, top) };
    });
  }

  #shownText(): string {
    if (this.#kind === kinds.freeText) return this.#entry('Contents') || this.#appearance() || this.#richText();
    if (this.#kind === kinds.stamp || this.#kind === kinds.watermark) return this.#appearance();
    if (this.#field === fields.signature || this.#field === fields.button) return this.#appearance();
    if (this.tick !== undefined) return this.tick;
    if (this.#field === fields.combo || this.#field === fields.list) return this.#chosen() || this.#value();
    return this.#field === fields.text ? this.#typedValue() : '';
  }

  #typedValue(): string {
    if (this.#pdfium.FPDFAnnot_GetFormFieldFlags(this.#form, this.#handle) & passwordField) return '';
    const script = readString(this.#pdfium, (buffer, size) =>
      this.#pdfium.FPDFAnnot_GetFormAdditionalActionJavaScript(this.#form, this.#handle, formatting, buffer, size),
    );
    return (script === '' ? '' : this.#appearance()) || this.#value();
  }

  #value(): string {
    return readString(this.#pdfium, (buffer, size) => this.#pdfium.FPDFAnnot_GetFormFieldValue(this.#form, this.#handle, buffer, size));
  }

  /** The names of the options that are chosen, as they are shown. */
  #chosen(): string {
    const count = this.#pdfium.FPDFAnnot_GetOptionCount(this.#form, this.#handle);
    const names: string[] = [];
    for (let index = 0; index < count; index += 1) {
      if (!this.#pdfium.FPDFAnnot_IsOptionSelected(this.#form, this.#handle, index)) continue;
      names.push(
        readString(this.#pdfium, (buffer, size) => this.#pdfium.FPDFAnnot_GetOptionLabel(this.#form, this.#handle, index, buffer, size)),
      );
    }
    return names.join(', ');
  }

  #entry(key: string): string {
    return readString(this.#pdfium, (buffer, size) => this.#pdfium.FPDFAnnot_GetStringValue(this.#handle, key, buffer, size));
  }

  /** What a viewer draws where nothing is drawn for it (ISO 32000-1, 12.7.3.4): XHTML. */
  #richText(): string {
    const bytes = Buffer.from(this.#entry('RC'));
    return readHtmlPart({ bytes, mediaType: 'text/html', charset: 'utf-8' }).text;
  }

  /** The text of what is drawn for it. */
  #appearance(): string {
    const pdfium = this.#pdfium;
    const document = pdfium.EPDFAnnot_ExportAppearanceAsDocument(this.#handle);
    if (document === 0) return '';
    const page = pdfium.FPDF_LoadPage(document, 0);
    const textPage = page === 0 ? 0 : pdfium.FPDFText_LoadPage(page);
    const text = textPage === 0 ? '' : readPageText(pdfium, textPage);
    if (textPage !== 0) pdfium.FPDFText_ClosePage(textPage);
    if (page !== 0) pdfium.FPDF_ClosePage(page);
    pdfium.FPDF_CloseDocument(document);
    return text;
  }
}
