import { convert, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import type { RawText, SourceDocument } from '../document.ts';
import { MathMl } from '../office/math-ml.ts';
import { markHeading } from '../outline.ts';
import { signOfRaised } from '../raised.ts';
import { charsetOfBom, decodeText, knownCharset } from '../text/decode-text.ts';
import { leaveOutBoilerplate } from './html-boilerplate.ts';
import { breaking, drawn, flat, hidden, lines, lists, paragraphs, readings, undrawn, widgets } from './html-elements.ts';
import { writeFields } from './html-fields.ts';
import { formatNumbered } from './html-lists.ts';
import { formatTable } from './html-table.ts';
import { tokenizeHtml } from './tokenize-html.ts';

// Deeper nesting overflows the stack of html-to-text. Old pages that never close a <font> reach it.
const maxDepth = 300;
/** A page may have much in its head before the element that names its charset. */
const prescanBytes = 1024 * 1024;
// A parsed tree needs about twenty times the memory of its source. Far less source than this fills the limit of characters.
const maxParsedLength = 6_000_000;
/** An unclosed element is left out to the end, as in a browser: searching for each end again would take minutes. */
const heavyParts =
  /<svg\b[^>]*\/>|<(script|style|svg)\b[^>]*(?:>[\s\S]*?(?:<\/\1\s*>|$)|$)|<!--[\s\S]*?(?:-->|$)|(?<=["'(])data:[\w/+.;=-]{0,80},[\w%+/=]*/gi;
const comments = /<!--[\s\S]*?(?:-->|$)/g;
const metaCharset = /<meta[^>]{0,200}?charset\s{0,20}=[\s"']{0,20}([\w:.-]{1,40})/i;
/** XHTML may say it in its first line. */
const xmlCharset = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{1,40})/i;

type Element = Parameters<FormatCallback>[0];

/** An element of the library's tree, with what its published types leave out. */
interface Raised extends Element {
  prev?: Element;
  parent?: Raised;
}

const unread = new Set([...hidden, ...widgets, 'svg']);

/** Elements that stand on every page of a site, or that a browser does not show. */
const besides = ['nav', 'dialog', '[role=navigation]', '[role=search]', '[hidden]', '[aria-hidden=true]'];
/** What is shown although others of its name are not. */
const shown = ['dialog[open]', 'template[shadowrootmode]'];

const layout: HtmlToTextOptions = {
  wordwrap: false,
  // The white space of HTML. The library's own list also has the zero-width space, and would part words there.
  whitespaceCharacters: ' \t\r\n\f',
  baseElements: { selectors: ['title', 'body'], orderBy: 'occurrence', returnDomByDefault: true },
  limits: { maxInputLength: maxParsedLength },
  formatters: {
    alternativeText: (element, _walk, builder) => {
      const alt: unknown = element.attribs?.alt;
      if (typeof alt === 'string' && alt.trim()) builder.addInline(alt.trim());
    },
    drawing: (element, walk, builder) => {
      builder.addInline(' ');
      for (const part of element.children) {
        if (undrawn.has(part.name ?? '')) continue;
        if (drawn.has(part.name ?? '')) {
          builder.openBlock({ leadingLineBreaks: 1 });
          walk(part.children, builder);
          builder.closeBlock({ trailingLineBreaks: 1 });
        } else if (part.children) layout.formatters?.drawing?.(part, walk, builder, {});
      }
    },
    formula: (element, _walk, builder) => builder.addInline(writeFormula(element)),
    gap: (_element, _walk, builder) => builder.addInline(' '),
    heading: (element, walk, builder, { leadingLineBreaks }) => {
      builder.openBlock({ leadingLineBreaks });
      walk(element.children, builder);
      builder.closeBlock({ trailingLineBreaks: 2, blockTransform: (text) => markHeading(levelOf(element.name), text) });
    },
    numbered: formatNumbered,
    raised: (element: Raised, walk, builder) => {
      // A mark may stand in the link to its note.
      const before = element.prev ?? (element.parent?.name === 'a' ? element.parent.prev : undefined);
      if (before && signOfRaised(outerText(before, 'last'), outerText(element, 'first'))) builder.addInline('^');
      walk(element.children, builder);
    },
    tableRows: formatTable,
  },
  selectors: [
    ...[...hidden, ...readings, ...besides].map((selector) => ({ selector, format: 'skip' })),
    ...widgets.map((selector) => ({ selector, format: 'gap' })),
    ...[...paragraphs, ...shown].map((selector) => ({
      selector,
      format: 'block',
      options: { leadingLineBreaks: 2, trailingLineBreaks: 2 },
    })),
    ...[...lines, 'li'].map((selector) => ({ selector, format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } })),
    ...lists.map((selector) => ({ selector, format: 'unorderedList' })),
    // The formatter of the list writes its own points.
    ...['ul', 'ol', ...lists].map((list) => ({ selector: `${list} > li`, format: 'inline' })),
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, format: 'heading' })),
    { selector: 'title', format: 'block', options: { trailingLineBreaks: 2 } },
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'hr', options: { length: 3 } },
    { selector: 'img', format: 'alternativeText' },
    { selector: 'sup', format: 'raised' },
    { selector: 'svg', format: 'drawing' },
    { selector: 'ol', format: 'numbered' },
    { selector: 'math', format: 'formula' },
    { selector: 'table', format: 'tableRows' },
  ],
};

/** In a mail nothing can be unfolded: what is not shown is for programs. A part of a page may be shown by a click. */
const foldless: HtmlToTextOptions = {
  ...layout,
  selectors: [
    ...(layout.selectors ?? []),
    ...['display:none', 'display: none'].map((style) => ({ selector: `[style*="${style}"i]`, format: 'skip' })),
  ],
};

/**
 * Reads the text of an HTML page: title, headings, paragraphs, values of fields, and lists and tables as rows. Leaves out scripts, styles,
 * addresses of links, and what belongs to the site instead of the page.
 */
export function readHtml(document: SourceDocument): RawText {
  return read(document, leaveOutBoilerplate, layout);
}

/** Reads HTML that is no page of a site, such as a mail or a chapter of a book: what stands beside its text belongs to it. */
export function readHtmlPart(document: SourceDocument): RawText {
  return read(document, (html) => html, foldless);
}

function read({ bytes, charset }: SourceDocument, prune: (html: string) => string, options: HtmlToTextOptions): RawText {
  const { text: html, notices } = decodeText(bytes, charsetOfBom(bytes) ?? knownCharset(charset) ?? charsetOfMeta(bytes));
  const light = html.length > maxParsedLength ? html.replace(heavyParts, '') : html;
  const text = htmlToText(writeFields(light.slice(0, maxParsedLength)), prune, options);
  return { text, pages: null, notices, stoppedEarly: light.length > maxParsedLength };
}

/** Converts HTML to plain text. Lists and tables are laid out, and boilerplate is left out, unless the page is nested too deeply for that. */
function htmlToText(html: string, prune: (html: string) => string, options: HtmlToTextOptions): string {
  const { depth, text } = scanHtml(html);
  if (depth > maxDepth) return text;
  const pruned = prune(html);
  // Without a body html-to-text would take the title for all of the text.
  return convert(/<body[\s>]/i.test(pruned) ? pruned : `<body>${pruned}`, options)
    .replace(/(\S) {3,}(?=\S)/g, '$1  ')
    .replace(/(?<![ \t])[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n');
}

/** The first or the last text in an element: all of it, for each raised part, would take quadratic time. */
function outerText({ type, data, children = [] }: Element, side: 'first' | 'last'): string {
  if (type === 'text') return data ?? '';
  for (let index = 0; index < children.length; index += 1) {
    const child = children.at(side === 'first' ? index : -1 - index);
    const text = child ? outerText(child, side) : '';
    if (text !== '') return text;
  }
  return '';
}

/** A formula of MathML in one line. */
function writeFormula(formula: Element): string {
  let shown = '';
  const math = new MathMl((text) => {
    shown += text;
  });
  const write = ({ type, name = '', data, children = [] }: typeof formula) => {
    if (type === 'text') math.add(data ?? '');
    if (type !== 'tag') return;
    math.open(name);
    children.forEach(write);
    math.close(name);
  };
  write(formula);
  math.end();
  return shown;
}

function charsetOfMeta(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, prescanBytes)).toString('latin1');
  const label = knownCharset((metaCharset.exec(head.replace(comments, '')) ?? xmlCharset.exec(head))?.[1]);
  // A page whose declaration is readable as single bytes is not in UTF-16, whatever it declares.
  return label?.startsWith('utf-16') ? 'utf-8' : label;
}

/** The results of one pass over HTML, without building a tree. */
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
  let inReading = false;
  let headingAt: number | undefined;
  const onTag = (start: number, end: number, step: 1 | -1) => {
    const name = html.slice(start, end).toLowerCase();
    if (!flat.has(name)) depth = Math.max(0, depth + step);
    deepest = Math.max(deepest, depth);
    if (unread.has(name)) hiddenDepth = Math.max(0, hiddenDepth + step);
    // Their ends may be left out.
    if (readings.includes(name)) inReading = step > 0;
    else if (name === 'ruby' || name === 'rb' || breaking.has(name)) inReading = false;
    if (breaking.has(name)) parts.push('\n');
    if (!/^h[1-6]$/.test(name)) return;
    if (headingAt !== undefined && step < 0) parts.push(markHeading(levelOf(name), parts.splice(headingAt).join('').trim()), '\n');
    headingAt = step > 0 ? parts.length : undefined;
  };
  const onText = (text: string) => {
    if (hiddenDepth === 0 && !inReading) parts.push(text);
  };
  tokenizeHtml(html, {
    onopentagname: (start, end) => onTag(start, end, 1),
    onclosetag: (start, end) => onTag(start, end, -1),
    ontext: (start, end) => onText(html.slice(start, end).replace(/\s+/g, ' ')),
    ontextentity: (codepoint) => onText(String.fromCodePoint(codepoint)),
  });
  const text = parts.join('').replace(/(?<! ) *\n[ \n]*/g, '\n');
  return { depth: deepest, text: text.trim() };
}
