/** Elements that may be hidden. */
const hideable = /^(?:text:(?:span|p|h|section|hidden-text|hidden-paragraph)|table:table-row|style:(?:header|footer)(?:-first|-left)?)$/;

/** Knows which parts of an OpenDocument text are hidden: stretches, paragraphs, sections, rows and headers; which text is raised, and its font. */
export class OdtStyles {
  readonly #hiding = new Set<string>();
  readonly #raising = new Set<string>();
  /** The fonts of styles, and those that a document gives names of its own. */
  readonly #fonts = new Map<string, string>();
  readonly #named = new Map<string, string>();
  #defined = '';
  /** Those that are open, whether each is hidden or raised, and its font. */
  readonly #open: { isHidden: boolean; isRaised: boolean; font: string | undefined }[] = [];

  /** Whether the text is a superscript. */
  get isRaised(): boolean {
    return this.#open.at(-1)?.isRaised ?? false;
  }

  /** The font of the text, if a style names one. */
  get font(): string | undefined {
    return this.#open.at(-1)?.font;
  }

  /** Whether a beginning element hides its contents. */
  hides(name: string, attributes: Record<string, string>): boolean {
    if (name === 'style:style') {
      this.#defined = `${attributes['style:family']} ${attributes['style:name']}`;
      // Headers and the text have styles of their own, some by the same name.
      this.#hiding.delete(this.#defined);
      this.#raising.delete(this.#defined);
      this.#fonts.delete(this.#defined);
    } else if (name === 'style:font-face') this.#named.set(attributes['style:name'] ?? '', attributes['svg:font-family'] ?? '');
    else if (name === 'style:text-properties') {
      if (attributes['text:display'] === 'none') this.#hiding.add(this.#defined);
      if (/^(?:super|[1-9])/.test(attributes['style:text-position'] ?? '')) this.#raising.add(this.#defined);
      const font = this.#named.get(attributes['style:font-name'] ?? '') ?? attributes['style:font-name'] ?? attributes['fo:font-family'];
      if (font !== undefined) this.#fonts.set(this.#defined, font.replace(/['"]/g, ''));
    }
    if (!hideable.test(name)) return false;
    const style = `${name === 'text:span' ? 'text' : 'paragraph'} ${attributes['text:style-name']}`;
    const isOff =
      attributes['text:display'] === 'none' ||
      attributes['table:visibility'] === 'collapse' ||
      attributes['style:display'] === 'false' ||
      attributes['text:is-hidden'] === 'true';
    const isHidden = isOff || this.#hiding.has(style);
    this.#open.push({ isHidden, isRaised: this.#raising.has(style), font: this.#fonts.get(style) ?? this.font });
    return isHidden;
  }

  /** Whether an ending element has hidden its contents. */
  ends(name: string): boolean {
    return hideable.test(name) && this.#open.pop()?.isHidden === true;
  }
}
