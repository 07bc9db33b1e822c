import { digitOf } from './fold-text.ts';

/** A text in which facts are read: composed, with the digits 0 to 9, plain hyphens, spaces and apostrophes, and words of one piece. */
export function plainText(text: string): string {
  return (
    text
      .replace(/\p{Cf}/gu, '')
      .replace(/(\p{L})[-\u2010]\n\s*(?=\p{Ll})/gu, '$1')
      .replace(/[^\p{No}]+/gu, (part) => part.normalize('NFKC'))
      .replace(/(?![0-9])\p{Nd}/gu, digitOf)
      .replace(/[\p{Pd}\u2212]/gu, '-')
      .replace(/[‘’ʼ]/g, "'")
      // What a tab or a line break divides is no number in groups of three.
      .replace(/[\t\n\r]/g, '  ')
      .replace(/\s/g, ' ')
  );
}
