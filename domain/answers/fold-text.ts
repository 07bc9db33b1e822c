/** A text in the form in which quotes are compared, and the position of each of its code units in the original text. */
export interface FoldedText {
  folded: string;
  /** The index at which the character of a code unit begins in the text. */
  starts: number[];
  /** The index after that character. */
  ends: number[];
}

const unseen = /\p{Cf}|\u0640|[\ufe00-\ufe0f]/u;
const kept = /[\p{L}\p{M}\p{N}\p{Sc}%‰°=<>≤≥≠±×÷+#&@§]/u;
const digit = /\p{Nd}/u;
/** Superscripts and fractions: 10² is not 102. */
const otherNumber = /\p{No}/u;
const dash = /[\p{Pd}\u2212]/u;
const wordCharacter = /[\p{L}\p{N}]/u;

/**
 * Folds a text to its letters, digits and signs, in lower case and decomposed: without hyphens, spaces, quotation marks, punctuation and the
 * marks of Markdown. Between digits the separator is kept as one character, and so is a minus, since 13:30, 1330 and -1330 differ.
 */
export function foldText(text: string): FoldedText {
  const fold: FoldedText = { folded: '', starts: [], ends: [] };
  let [index, between] = [0, ''];
  const add = (part: string, start: number, end: number) => {
    fold.folded += part;
    for (let unit = 0; unit < part.length; unit += 1) {
      fold.starts.push(start);
      fold.ends.push(end);
    }
  };
  for (const character of text) {
    const end = index + character.length;
    if (kept.test(character) && !isQuoteMark(character, text, index)) {
      const folded = foldCharacter(character);
      if (digit.test(character) && between !== '') {
        const betweenDigits = /\d$/.test(fold.folded);
        const sign = betweenDigits ? signBetween(between) : minusOf(between, text[index - between.length - 1] ?? '');
        add(sign, index - (betweenDigits ? between.length : 1), index);
      }
      add(folded, index, end);
      between = '';
    } else if (!unseen.test(character)) between += character;
    index = end;
  }
  return fold;
}

function foldCharacter(character: string): string {
  if (digit.test(character)) return digitOf(character);
  return otherNumber.test(character) ? character : character.normalize('NFKD').toLowerCase();
}

/** A digit of any script as one of 0 to 9: the code points of a script's digits follow each other, beginning with its zero. */
export function digitOf(character: string): string {
  const plain = character.normalize('NFKC');
  if (/^\d$/.test(plain)) return plain;
  const code = character.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && digit.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value);
}

/** At the beginning of a line `>` is a mark of Markdown or mail. */
function isQuoteMark(character: string, text: string, index: number): boolean {
  return character === '>' && (index === 0 || text[index - 1] === '\n' || text[index - 1] === '>');
}

/** The one character that stands for the separator between two digits. */
function signBetween(between: string): string {
  if (/^\s+$/.test(between)) return ' ';
  // Digits on both sides of a space are no parts of one number.
  if (/\s/.test(between)) return '\n';
  return dash.test(between) ? '-' : (between[0] ?? '');
}

/** A dash before a digit is a minus, unless it joins it to a word. */
function minusOf(between: string, before: string): string {
  return dash.test(between.at(-1) ?? '') && !(between.length === 1 && wordCharacter.test(before)) ? '-' : '';
}
