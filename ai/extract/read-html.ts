import { convert } from 'html-to-text';
import { charsetOfBom, decodeText, knownCharset } from './decode-text.ts';
import type { RawText, SourceDocument } from './types.ts';

const prescanBytes = 2048;
const metaCharset = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i;

/** Reads the text of an HTML page: title, headings, paragraphs, lists and table cells; no scripts, styles or addresses. */
export function readHtml({ bytes, charset }: SourceDocument): RawText {
  const html = decodeText(bytes, charsetOfBom(bytes) ?? knownCharset(charset) ?? charsetOfMeta(bytes));
  return { text: htmlToText(html), pages: null };
}

/** Converts HTML to plain text. */
export function htmlToText(html: string): string {
  const text = convert(html, {
    wordwrap: false,
    baseElements: { selectors: ['title', 'body'], orderBy: 'occurrence', returnDomByDefault: true },
    // Deeper nesting is no page that someone wrote; without a limit it would exhaust the stack.
    limits: { maxDepth: 400, maxInputLength: Number.MAX_SAFE_INTEGER, ellipsis: '' },
    formatters: {
      alternativeText: (element, _walk, builder) => {
        const alt: unknown = element.attribs?.alt;
        if (typeof alt === 'string' && alt.trim()) builder.addInline(alt.trim());
      },
    },
    selectors: [
      ...['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object'].map((selector) => ({ selector, format: 'skip' })),
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
      { selector: 'title', format: 'block', options: { trailingLineBreaks: 2 } },
      { selector: 'a', options: { ignoreHref: true } },
      { selector: 'img', format: 'alternativeText' },
      { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false, colSpacing: 2, rowSpacing: 0 } },
    ],
  });
  return text.replace(/(\S) {3,}(?=\S)/g, '$1  ').replace(/[ \t]+$/gm, '');
}

function charsetOfMeta(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, prescanBytes)).toString('latin1');
  const label = knownCharset(metaCharset.exec(head)?.[1]);
  // A page whose declaration can be read byte by byte is not in UTF-16, whatever it says.
  return label?.startsWith('utf-16') ? 'utf-8' : label;
}
