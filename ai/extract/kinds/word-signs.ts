/** Signs of the fonts for signs that mean something in a form: boxes, ticks, crosses and arrows. */
const signs: Record<string, Record<number, string>> = {
  wingdings: {
    111: '☐',
    113: '☐',
    114: '☐',
    120: '☒',
    168: '☐',
    223: '←',
    224: '→',
    251: '✗',
    252: '✓',
    253: '☒',
    254: '☑',
  },
  'wingdings 2': { 80: '✓', 79: '✗', 81: '☒', 82: '☑', 163: '☐', 83: '☒', 84: '☒' },
};

/** The sign of a symbol of Word; '' for one that says nothing without its font. */
export function signOf(font = '', code = ''): string {
  const value = Number.parseInt(code, 16);
  if (Number.isNaN(value)) return '';
  // Fonts for signs are in a private range, from 0xf000.
  return value >= 0xe000 && value < 0xf900 ? (signs[font.toLowerCase()]?.[value & 0xff] ?? '') : String.fromCharCode(value);
}

/** A box of an old form, which is ticked by its state, or else as it was when the form was made. */
export class WordBox {
  #default = false;
  #state: boolean | undefined;
  #isOpen = false;

  open(name: string, value: string): void {
    const isOn = !['0', 'false', 'off'].includes(value);
    if (name === 'w:checkBox') [this.#isOpen, this.#default, this.#state] = [true, false, undefined];
    else if (this.#isOpen && name === 'w:default') this.#default = isOn;
    else if (this.#isOpen && name === 'w:checked') this.#state = isOn;
  }

  close(): string {
    this.#isOpen = false;
    return (this.#state ?? this.#default) ? '☒ ' : '☐ ';
  }
}
