/** Elements that may be hidden. */
const hideable = /^(?:text:(?:span|p|h|section|hidden-text|hidden-paragraph)|table:table-row|style:(?:header|footer)(?:-first|-left)?)$/;

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
    if (name === 'style:style') {
      this.#defined = `${attributes['style:family']} ${attributes['style:name']}`;
      // Headers and the text have styles of their own, some by the same name.
      this.#hiding.delete(this.#defined);
      this.#raising.delete(this.#defined);
    } else if (name === 'style:text-properties') {
      if (attributes['text:display'] === 'none') this.#hiding.add(this.#defined);
      if (/^(?:super|[1-9])/.test(attributes['style:text-position'] ?? '')) this.#raising.add(this.#defined);
    }
    if (!hideable.test(name)) return false;
    const style = `${name === 'text:span' ? 'text' : 'paragraph'} ${attributes['text:style-name']}`;
    const isOff =
      attributes['text:display'] === 'none' ||
      attributes['table:visibility'] === 'collapse' ||
      attributes['style:display'] === 'false' ||
      attributes['text:is-hidden'] === 'true';
    const isHidden = isOff || this.#hiding.has(style);
    this.#open.push({ isHidden, isRaised: this.#raising.has(style) });
    return isHidden;
  }

  /** Whether an ending element has hidden its contents. */
  ends(name: string): boolean {
    return hideable.test(name) && this.#open.pop()?.isHidden === true;
  }
}
