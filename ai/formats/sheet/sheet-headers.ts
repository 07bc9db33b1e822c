/** How a part of a header is set: its font, size and colour, or one letter. Two such signs are the sign itself. */
const codes = /&(?:"[^"]*"|\d+|K[\dA-F]{2}(?:[\dA-F]{4}|[+-]\d{3})|(&)|.)/gs;
/** “Page of”, in any language, is what stays of a line without the numbers of pages. */
const minLetters = 12;
const pageNumber = /(?<!&)&[PN]/;
type Kind = 'Header' | 'Footer';

/** Headers and footers of the sheets of a workbook, which are there in print. */
export class SheetHeaders {
  readonly #texts = { Header: new Set<string>(), Footer: new Set<string>() };
  /** Those that a sheet shows: Excel keeps others. */
  #shown = ['odd'];
  #open: Kind | undefined;
  #code = '';

  /** The paragraphs of all headers, or of all footers, each once. */
  textOf(kind: Kind): string {
    return [...this.#texts[kind]].join('\n\n');
  }

  open(name: string, attributes: Record<string, string>): void {
    if (name === 'headerFooter') {
      const isOn = (attribute: string) => ['1', 'true'].includes(attributes[attribute] ?? '');
      this.#shown = ['odd', ...(isOn('differentFirst') ? ['first'] : []), ...(isOn('differentOddEven') ? ['even'] : [])];
    }
    const [, page = '', kind] = /^(odd|even|first)(Header|Footer)$/.exec(name) ?? [];
    if (kind && this.#shown.includes(page)) [this.#open, this.#code] = [kind as Kind, ''];
  }

  add(text: string): void {
    if (this.#open) this.#code += text;
  }

  /** Takes what stands on the left, in the middle and on the right, without lines that only number the page. */
  close(): void {
    if (!this.#open) return;
    for (const part of this.#code.split(/(?<!&)&[LCR]/)) {
      const lines = part.split('\n').map((line) => {
        const shown = line.replace(codes, '$1').trim();
        const letters = shown.match(/\p{L}/gu)?.length ?? 0;
        return pageNumber.test(line) && letters < minLetters ? '' : shown;
      });
      const text = lines.filter((line) => line !== '').join('\n');
      if (text !== '') this.#texts[this.#open].add(text);
    }
    this.#open = undefined;
  }
}
