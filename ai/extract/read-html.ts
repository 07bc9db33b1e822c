import { convert } from 'html-to-text';
import { charsetOfBom, decodeText, knownCharset } from './decode-text.ts';
import { scanHtml } from './scan-html.ts';
import type { RawText, SourceDocument } from './types.ts';

// Deeper nesting would exhaust the stack of what lays out a page. Old pages that never close a <font> reach it.
const maxDepth = 300;
const prescanBytes = 2048;
// A tree takes some twenty times the memory of its source. Text that fills the limit stands within far less than this.
const maxParsedLength = 6_000_000;
const heavyParts = /<(script|style|svg)\b[^>]*>[\s\S]*?<\/\1\s*>|<!--[\s\S]*?-->|(?<=["'(])data:[\w/+.;=-]{0,80},[\w%+/=]*/gi;
const metaCharset = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i;

/** Reads the text of an HTML page: title, headings, paragraphs, lists and table cells; no scripts, styles or addresses. */
export function readHtml({ bytes, charset }: SourceDocument): RawText {
  const html = decodeText(bytes, charsetOfBom(bytes) ?? knownCharset(charset) ?? charsetOfMeta(bytes));
  const light = html.length > maxParsedLength ? html.replace(heavyParts, '') : html;
  return { text: htmlToText(light.slice(0, maxParsedLength)), pages: null, stoppedEarly: light.length > maxParsedLength };
}

/** Converts HTML to plain text, lists and tables laid out unless the page is nested too deep for that. */
export function htmlToText(html: string): string {
  const scan = scanHtml(html);
  if (scan.depth > maxDepth) return scan.text;
  const text = convert(html, {
    wordwrap: false,
    baseElements: { selectors: ['title', 'body'], orderBy: 'occurrence', returnDomByDefault: true },
    limits: { maxInputLength: maxParsedLength },
    formatters: {
      alternativeText: (element, _walk, builder) => {
        const alt: unknown = element.attribs?.alt;
        if (typeof alt === 'string' && alt.trim()) builder.addInline(alt.trim());
      },
    },
    selectors: [
      ...['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object', 'select', 'textarea', 'button'].map((selector) => ({
        selector,
        format: 'skip',
      })),
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
      { selector: 'title', format: 'block', options: { trailingLineBreaks: 2 } },
      { selector: 'a', options: { ignoreHref: true } },
      { selector: 'hr', options: { length: 3 } },
      { selector: 'img', format: 'alternativeText' },
      { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false, colSpacing: 2, rowSpacing: 0 } },
    ],
  });
  return text
    .replace(/(\S) {3,}(?=\S)/g, '$1  ')
    .replace(/(?<![ \t])[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n');
}

function charsetOfMeta(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, prescanBytes)).toString('latin1');
  const label = knownCharset(metaCharset.exec(head)?.[1]);
  // A page whose declaration can be read byte by byte is not in UTF-16, whatever it says.
  return label?.startsWith('utf-16') ? 'utf-8' : label;
}
