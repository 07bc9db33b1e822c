/** Signs of the fonts for signs that mean something in a form: boxes, ticks, crosses and arrows, and those of lists. */
const signs: Record<string, Record<number, string>> = {
  wingdings: {
    111: '☐',
    113: '☐',
    114: '☐',
    118: '❖',
    120: '☒',
    167: '▪',
    168: '☐',
    216: '➢',
    223: '←',
    224: '→',
    251: '✗',
    252: '✓',
    253: '☒',
    254: '☑',
  },
  'wingdings 2': { 80: '✓', 79: '✗', 81: '☒', 82: '☑', 163: '☐', 83: '☒', 84: '☒' },
};

/** The letters and signs of the font Symbol, from 0x20, 0xa0 and 0xf1: Greek, arrows, and what formulas need. */
const symbols = {
  low: ' !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλµνοπθρστυϖωξψζ{|}∼',
  high: '€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…│─↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪',
  highest: '〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭',
};

/** Whether a font, in small letters, shows signs in place of letters. */
export function isSignFont(font: string): boolean {
  return font === 'symbol' || Object.hasOwn(signs, font);
}

/** The sign of a symbol of Word; '' for one that says nothing without its font. */
export function signOf(font = '', code = ''): string {
  const value = Number.parseInt(code, 16);
  if (Number.isNaN(value)) return '';
  // Fonts for signs are in a private range, from 0xf000. Other letters are Unicode's, which programs show in another font.
  if (font.toLowerCase() === 'symbol' && (value < 0x100 || (value >= 0xf000 && value < 0xf100))) {
    const byte = value & 0xff;
    return symbols.low[byte - 0x20] ?? symbols.high[byte - 0xa0] ?? symbols.highest[byte - 0xf1] ?? '';
  }
  return value >= 0xe000 && value < 0xf900 ? (signs[font.toLowerCase()]?.[value & 0xff] ?? '') : String.fromCharCode(value);
}

/** A text in its font, whose letters are other signs if it is one for signs. What takes two units (an emoji) is in no such font. */
export function inFont(text: string, font: string | undefined): string {
  if (font === undefined || !isSignFont(font.toLowerCase())) return text;
  return [...text]
    .map((letter) => (letter.length > 1 || /\s/.test(letter) ? letter : signOf(font, letter.codePointAt(0)?.toString(16))))
    .join('');
}
