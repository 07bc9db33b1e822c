import * as rouge from 'js-rouge';
import { stemmer } from 'stemmer';

/** How alike a summary and a reference are, as F1 of words, of pairs of words, and of the longest sequences of words with gaps, by sentences. */
export interface Rouge {
  words: number;
  pairs: number;
  longest: number;
}

/** ROUGE-1, ROUGE-2 and ROUGE-L of stems. */
export function rougeOf(summary: string, reference: string): Rouge {
  return {
    words: rouge.n(summary, reference, { n: 1, tokenizer: stemsOf }),
    pairs: rouge.n(summary, reference, { n: 2, tokenizer: stemsOf }),
    longest: rouge.l(summary, reference, { tokenizer: stemsOf }),
  };
}

/** Words of up to three letters have no stem in the original program. */
function stemsOf(text: string): string[] {
  return (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).map((word) => (word.length > 3 ? stemmer(word) : word));
}
