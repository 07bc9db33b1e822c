/** Elements that may be hidden, and the family of the styles that hide them. */
const hideable: Record<string, string> = {
  'text:span': 'text',
  'text:p': 'paragraph',
  'text:h': 'paragraph',
  'text:section': '',
  'table:table-row': '',
  'style:header-first': '',
  'style:header-left': '',
  'style:header': '',
  'style:footer-first': '',
  'style:footer-left': '',
  'style:footer': '',
};

/** Knows which stretches of text, paragraphs, sections, rows and headers of an OpenDocument text are hidden. */
export class OdtHidden {
  readonly #names = new Set<string>();
  #defined = '';
  /** Those that are open, and whether each is hidden. */
  readonly #open: boolean[] = [];

  /** Whether a beginning element hides its contents. */
  hides(name: string, attributes: Record<string, string>): boolean {
    if (name === 'style:style') this.#defined = `${attributes['style:family']} ${attributes['style:name']}`;
    else if (name === 'style:text-properties' && attributes['text:display'] === 'none') this.#names.add(this.#defined);
    const family = hideable[name];
    if (family === undefined) return false;
    const isHidden =
      attributes['text:display'] === 'none' || attributes['table:visibility'] === 'collapse' || attributes['style:display'] === 'false';
    this.#open.push(isHidden || this.#names.has(`${family} ${attributes['text:style-name']}`));
    return this.#open.at(-1) === true;
  }

  /** Whether an ending element has hidden its contents. */
  ends(name: string): boolean {
    return name in hideable && this.#open.pop() === true;
  }
}
