import { convert, type HtmlToTextOptions } from 'html-to-text';
import { Tokenizer } from 'htmlparser2';

import { charsetOfBom, decodeText, knownCharset } from './decode-text.ts';
import type { RawText, SourceDocument } from './document.ts';
import { leaveOutBoilerplate } from './html-boilerplate.ts';
import { formatTable } from './html-table.ts';
import { markHeading } from './outline.ts';

// Deeper nesting overflows the stack of html-to-text. Old pages that never close a <font> reach it.
const maxDepth = 300;
const prescanBytes = 2048;
// A parsed tree needs about twenty times the memory of its source. Far less source than this fills the limit of characters.
const maxParsedLength = 6_000_000;
/** What never ends is left out to the end, as a browser does: to look for each end anew would take minutes. */
const heavyParts =
  /<svg\b[^>]*\/>|<(script|style|svg)\b[^>]*(?:>[\s\S]*?(?:<\/\1\s*>|$)|$)|<!--[\s\S]*?(?:-->|$)|(?<=["'(])data:[\w/+.;=-]{0,80},[\w%+/=]*/gi;
const metaCharset = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i;

const hidden = new Set('script style noscript template svg iframe object select textarea button'.split(' '));
const inline = new Set(
  'a abbr b bdi bdo big cite code data del dfn em font i img ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
// Void elements, and elements that the next one closes: they nest only inside of others.
const flat = new Set(
  `area base br col embed hr img input link meta param source track wbr p li dt dd tr td th tbody thead tfoot option optgroup colgroup
rt rp html head body`.split(/\s+/),
);

/** What stands on every page of a site, and what a browser does not show. */
const besides = ['nav', '[role=navigation]', '[role=search]', '[hidden]', '[aria-hidden=true]'];

const layout: HtmlToTextOptions = {
  wordwrap: false,
  baseElements: { selectors: ['title', 'body'], orderBy: 'occurrence', returnDomByDefault: true },
  limits: { maxInputLength: maxParsedLength },
  formatters: {
    alternativeText: (element, _walk, builder) => {
      const alt: unknown = element.attribs?.alt;
      if (typeof alt === 'string' && alt.trim()) builder.addInline(alt.trim());
    },
    heading: (element, walk, builder) => {
      builder.openBlock({ leadingLineBreaks: 2 });
      walk(element.children, builder);
      builder.closeBlock({ trailingLineBreaks: 2, blockTransform: (text) => markHeading(levelOf(element.name), text) });
    },
    tableRows: formatTable,
  },
  selectors: [
    ...[...hidden, ...besides].map((selector) => ({ selector, format: 'skip' })),
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'heading' })),
    { selector: 'title', format: 'block', options: { trailingLineBreaks: 2 } },
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'hr', options: { length: 3 } },
    { selector: 'img', format: 'alternativeText' },
    { selector: 'table', format: 'tableRows' },
  ],
};

/**
 * Reads the text of an HTML page: title, headings, paragraphs, lists and tables as rows; no scripts, styles or addresses, and nothing that belongs to the site
 * instead of the page.
 */
export function readHtml(document: SourceDocument): RawText {
  return read(document, leaveOutBoilerplate);
}

/** Reads HTML that is no page of a site, such as a mail or a chapter of a book: what stands beside its text belongs to it. */
export function readHtmlPart(document: SourceDocument): RawText {
  return read(document, (html) => html);
}

function read({ bytes, charset }: SourceDocument, prune: (html: string) => string): RawText {
  const html = decodeText(bytes, charsetOfBom(bytes) ?? knownCharset(charset) ?? charsetOfMeta(bytes));
  const light = html.length > maxParsedLength ? html.replace(heavyParts, '') : html;
  return { text: htmlToText(light.slice(0, maxParsedLength), prune), pages: null, stoppedEarly: light.length > maxParsedLength };
}

/** Converts HTML to plain text. Lists and tables are laid out, and boilerplate is left out, unless the page is nested too deeply for that. */
function htmlToText(html: string, prune: (html: string) => string): string {
  const { depth, text } = scanHtml(html);
  if (depth > maxDepth) return text;
  const pruned = prune(html);
  // Without one the title would be taken for all that there is.
  return convert(/<body[\s>]/i.test(pruned) ? pruned : `<body>${pruned}`, layout)
    .replace(/(\S) {3,}(?=\S)/g, '$1  ')
    .replace(/(?<![ \t])[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n');
}

function charsetOfMeta(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, prescanBytes)).toString('latin1');
  const label = knownCharset(metaCharset.exec(head)?.[1]);
  // A page whose declaration is readable as single bytes is not in UTF-16, whatever it declares.
  return label?.startsWith('utf-16') ? 'utf-8' : label;
}

type TokenizerCallbacks = ConstructorParameters<typeof Tokenizer>[1];

/** What one pass over HTML finds without building a tree. */
interface HtmlScan {
  /** The deepest nesting; an element that is never closed counts for everything after it. */
  depth: number;
  /** The visible text by blocks, without the layout of lists and tables. */
  text: string;
}

function levelOf(heading: string | undefined): number {
  return Number(heading?.slice(1));
}

/** Scans HTML in linear time and with constant stack, however deep its nesting: unlike a parser, a tokenizer keeps no open elements. */
function scanHtml(html: string): HtmlScan {
  const parts: string[] = [];
  let depth = 0;
  let deepest = 0;
  let hiddenDepth = 0;
  let headingAt: number | undefined;
  const onTag = (start: number, end: number, step: 1 | -1) => {
    const name = html.slice(start, end).toLowerCase();
    if (!flat.has(name)) depth = Math.max(0, depth + step);
    deepest = Math.max(deepest, depth);
    if (hidden.has(name)) hiddenDepth = Math.max(0, hiddenDepth + step);
    if (!inline.has(name)) parts.push('\n');
    if (!/^h[1-6]$/.test(name)) return;
    if (headingAt !== undefined && step < 0) parts.push(markHeading(levelOf(name), parts.splice(headingAt).join('').trim()), '\n');
    headingAt = step > 0 ? parts.length : undefined;
  };
  const onText = (text: string) => {
    if (hiddenDepth === 0) parts.push(text);
  };
  tokenize(html, {
    onopentagname: (start, end) => onTag(start, end, 1),
    onclosetag: (start, end) => onTag(start, end, -1),
    ontext: (start, end) => onText(html.slice(start, end).replace(/\s+/g, ' ')),
    ontextentity: (codepoint) => onText(String.fromCodePoint(codepoint)),
  });
  const text = parts.join('').replace(/(?<! ) *\n[ \n]*/g, '\n');
  return { depth: deepest, text: text.trim() };
}

function tokenize(html: string, callbacks: Partial<TokenizerCallbacks>): void {
  const nothing = () => {};
  const none: TokenizerCallbacks = {
    onopentagname: nothing,
    onclosetag: nothing,
    ontext: nothing,
    ontextentity: nothing,
    onselfclosingtag: nothing,
    onopentagend: nothing,
    onattribdata: nothing,
    onattribentity: nothing,
    onattribend: nothing,
    onattribname: nothing,
    oncdata: nothing,
    oncomment: nothing,
    ondeclaration: nothing,
    onprocessinginstruction: nothing,
    onend: nothing,
  };
  const tokenizer = new Tokenizer({ decodeEntities: true }, { ...none, ...callbacks });
  tokenizer.write(html);
  tokenizer.end();
}
