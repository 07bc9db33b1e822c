import { digitOf } from './fold-text.ts';

/** The form of a text in which facts are read: composed Unicode, digits 0 to 9, plain hyphens, spaces and apostrophes. */
export function plainText(text: string): string {
  return (
    text
      .replace(/\p{Cf}/gu, '')
      .replace(/(\p{L})[-\u2010]\n\s*(?=\p{Ll})/gu, '$1')
      .replace(/[^\p{No}]+/gu, (part) => part.normalize('NFKC'))
      .replace(/(?![0-9])\p{Nd}/gu, digitOf)
      .replace(/[\p{Pd}\u2212]/gu, '-')
      .replace(/[‘’ʼ]/g, "'")
      // Digits on both sides of a tab or a line break are no groups of one number.
      .replace(/[\t\n\r]/g, '  ')
      .replace(/\s/g, ' ')
  );
}
