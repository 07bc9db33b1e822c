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

/** Knows which parts of an OpenDocument text are hidden: stretches, paragraphs, sections, rows and headers; and which text is raised. */
export class OdtStyles {
  readonly #hiding = new Set<string>();
  readonly #raising = new Set<string>();
  #defined = '';
  /** Those that are open, and whether each is hidden or raised. */
  readonly #open: { isHidden: boolean; isRaised: boolean }[] = [];

  /** Whether the text is a superscript. */
  get isRaised(): boolean {
    return this.#open.at(-1)?.isRaised ?? false;
  }

  /** Whether a beginning element hides its contents. */
  hides(name: string, attributes: Record<string, string>): boolean {
    if (name === 'style:style') this.#defined = `${attributes['style:family']} ${attributes['style:name']}`;
    else if (name === 'style:text-properties') {
      if (attributes['text:display'] === 'none') this.#hiding.add(this.#defined);
      if (/^(?:super|[1-9])/.test(attributes['style:text-position'] ?? '')) this.#raising.add(this.#defined);
    }
    const family = hideable[name];
    if (family === undefined) return false;
    const style = `${family} ${attributes['text:style-name']}`;
    const isOff =
      attributes['text:display'] === 'none' || attributes['table:visibility'] === 'collapse' || attributes['style:display'] === 'false';
    const isHidden = isOff || this.#hiding.has(style);
    this.#open.push({ isHidden, isRaised: this.#raising.has(style) });
    return isHidden;
  }

  /** Whether an ending element has hidden its contents. */
  ends(name: string): boolean {
    return name in hideable && this.#open.pop()?.isHidden === true;
  }
}
