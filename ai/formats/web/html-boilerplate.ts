import { Parser } from 'htmlparser2';

/** Parts about the site or the page itself, unless they are within the page's own text. */
const outside = new Set(['header', 'footer', 'aside']);
const outsideRoles = new Set(['banner', 'contentinfo', 'complementary']);
const menus = new Set(['navigation', 'search', 'menu', 'menubar', 'dialog', 'alertdialog']);
const content = new Set(['main', 'article', 'section']);
const headings = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
const unseen = new Set(['script', 'style', 'noscript', 'template', 'svg', 'head', 'select', 'button', 'textarea']);
/** Banners that ask for consent, by the words that their makers put together, and those of well-known products. */
const asksForConsent =
  /(?:cookie|gdpr|consent)[-_]?(?:s[-_])?(?:banner|bar\b|notice|consent|popup|modal|dialog|overlay|law|message|wall|prompt)|onetrust|cybotcookiebot|cookiebot|usercentrics|didomi|osano|qc-cmp|truste[-_]|iubenda-cs|klaro|fc-consent|cc-window|sp_message_container/i;

/** The minimum fraction of a page's text in its `main`, or in its articles together, for them to count as the whole page. */
const shareOfMain = 0.25;
const shareOfArticles = 0.5;
/** If less than this is left, the removed parts were the page itself. */
const minShare = 0.1;

interface Span {
  start: number;
  end: number;
}

interface LeftOut extends Span {
  /** The title of the page, which stays. */
  title?: Span | undefined;
}

interface OpenElement {
  name: string;
  start: number;
  title?: Span;
  /** The beginning of a removed part. */
  isLeftOut: boolean;
  isContent: boolean;
  isUnseen: boolean;
}

/**
 * Removes what is not the page's own text: headers, footers, menus, sidebars, and banners that ask for consent. If the page marks its main
 * part or its articles, and they hold most of the text, only they are kept. A page of which almost nothing would be left is returned
 * unchanged. The page must not be deeply nested.
 */
export function leaveOutBoilerplate(html: string): string {
  const { title, main, articles, leftOut, length } = PageParts.of(html);
  if (length.all < (length.all + length.leftOut) * minShare) return html;
  const kept = chooseKept({ main, articles, length });
  if (!kept) return sliceWithout(html, [{ start: 0, end: html.length }], leftOut);
  return (title ? html.slice(title.start, title.end) : '') + sliceWithout(html, kept, leftOut);
}

function chooseKept({ main, articles, length }: Pick<PageParts, 'main' | 'articles' | 'length'>): Span[] | undefined {
  if (length.main > 0 && length.main >= length.all * shareOfMain) return main;
  if (length.articles > 0 && length.articles >= length.all * shareOfArticles) return articles;
  return undefined;
}

/** Parts of a page without what is left out. Both are in their order, and do not overlap. */
function sliceWithout(html: string, kept: Span[], leftOut: LeftOut[]): string {
  const pieces: string[] = [];
  let next = 0;
  for (const { start, end } of kept) {
    let at = start;
    for (let span = leftOut[next]; span && span.start < end; span = leftOut[++next]) {
      if (span.start < at) continue;
      pieces.push(html.slice(at, span.start));
      if (span.title) pieces.push(html.slice(span.title.start, span.title.end));
      at = span.end;
    }
    pieces.push(html.slice(at, end));
  }
  return pieces.join(' ');
}

/** The parts of a page. Found in one pass that keeps the open elements, so the page must not nest deeply. */
class PageParts {
  title: Span | undefined;
  readonly main: Span[] = [];
  readonly articles: Span[] = [];
  readonly leftOut: LeftOut[] = [];
  /** How many letters each has, without what is left out, and what is left out has. */
  readonly length = { all: 0, main: 0, articles: 0, leftOut: 0 };
  readonly #open: OpenElement[] = [];
  /** How many open elements are of each sort. */
  readonly #inside = { content: 0, unseen: 0, leftOut: 0, main: 0, article: 0 };

  static of(html: string): PageParts {
    const parts = new PageParts();
    const parser = new Parser({
      onopentag: (name, attributes) => parts.#begin(name, attributes, parser.startIndex),
      onclosetag: (_name, isImplied) => parts.#end({ next: isImplied ? parser.startIndex : undefined, end: parser.endIndex + 1 }),
      ontext: (text) => parts.#count(text),
    });
    parser.end(html);
    return parts;
  }

  #begin(name: string, attributes: Record<string, string>, start: number): void {
    const isMain = name === 'main' || attributes.role === 'main';
    const isContent = isMain || content.has(name);
    const isText = isMain || name === 'article' || this.#inside.main > 0 || this.#inside.article > 0;
    const isLeftOut = isBoilerplate(name, attributes, this.#inside.content > 0) || (!isText && isBanner(name, attributes));
    const element = { name: isMain ? 'main' : name, start, isLeftOut, isContent, isUnseen: unseen.has(name) };
    this.#open.push(element);
    this.#step(element, 1);
  }

  /** `next` is where the tag begins that implies the end, or where a void element begins itself; `end` is where the last tag ends. */
  #end({ next, end: endOfTag }: { next: number | undefined; end: number }): void {
    const element = this.#open.pop();
    if (!element) return;
    this.#step(element, -1);
    const { name, start, isLeftOut, title } = element;
    const end = next === undefined || next === start ? endOfTag : next;
    if (name === 'title') this.title ??= { start, end };
    if (name === 'h1' && this.#inside.leftOut === 1) noteTitle(this.#open, { start, end });
    if (this.#inside.leftOut > 0) return;
    if (isLeftOut) this.leftOut.push({ start, end, title });
    else if (name === 'main' && this.#inside.main === 0) this.main.push({ start, end });
    else if (name === 'article' && this.#inside.article === 0) this.articles.push({ start, end });
  }

  #step({ isContent, isUnseen, isLeftOut, name }: OpenElement, step: 1 | -1): void {
    if (isContent) this.#inside.content += step;
    if (isUnseen) this.#inside.unseen += step;
    if (isLeftOut) this.#inside.leftOut += step;
    if (name === 'main') this.#inside.main += step;
    if (name === 'article') this.#inside.article += step;
  }

  #count(text: string): void {
    if (this.#inside.unseen > 0) return;
    const letters = text.replace(/\s+/g, '').length;
    if (this.#inside.leftOut > 0) {
      this.length.leftOut += letters;
      return;
    }
    this.length.all += letters;
    if (this.#inside.main > 0) this.length.main += letters;
    if (this.#inside.article > 0) this.length.articles += letters;
  }
}

/** The title of a page may stand in its header. */
function noteTitle(open: OpenElement[], title: Span): void {
  const around = open.find(({ isLeftOut }) => isLeftOut);
  if (around?.name === 'header') around.title ??= title;
}

function isBoilerplate(name: string, attributes: Record<string, string>, isInContent: boolean): boolean {
  const { role = '' } = attributes;
  if (name === 'nav' || menus.has(role) || 'hidden' in attributes || attributes['aria-hidden'] === 'true') return true;
  return !isInContent && (outside.has(name) || outsideRoles.has(role));
}

/** Whether an element asks for consent, by its names. A page about consent has the same words in those of its headings. */
function isBanner(name: string, { id = '', class: classes = '' }: Record<string, string>): boolean {
  return name !== 'body' && name !== 'html' && !headings.has(name) && asksForConsent.test(`${id.slice(0, 200)} ${classes.slice(0, 500)}`);
}
