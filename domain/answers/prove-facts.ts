import { foldText } from './fold-text.ts';
import { isStopWord, languagesOf, wordsOf } from './languages.ts';
import { readNumberWords } from './number-words.ts';
import { plainText } from './plain-text.ts';
import { isCaseless, lacksName, lacksWords } from './prove-names.ts';
import { findUnsaidNumber, lacksUnit } from './prove-numbers.ts';
import { readDates } from './read-dates.ts';

/** The kind of fact in a sentence that its quotes do not have. */
export type Unproven = 'number' | 'date' | 'name';

/** The texts with which the facts of a sentence are compared. */
interface Evidence {
  /** The quotes as they stand in the documents. */
  quotes: string[];
  /** The sentences of the documents of which the quotes are parts. */
  sentences: string[];
  /** The titles and headings of the quoted passages: a sentence may name them. */
  labels: string[];
  /** The passages and the question, which show whether a word is a name. */
  words: string[];
  /** Whether the quotes are recognized text. */
  recognized: boolean;
}

/**
 * The kind of the first number, date or name (or address) in a sentence that its quotes do not have in any notation; undefined if they
 * have all.
 */
export function findUnproven(sentence: string, { quotes, sentences, labels, words, recognized }: Evidence): Unproven | undefined {
  const quoted = foldText(quotes.join('\n')).folded;
  if (quoted.includes(foldText(sentence).folded)) return undefined;
  if (lacksAddress(sentence, quotes)) return 'name';
  const said = plainText(sentence);
  const plainSentences = sentences.map(plainText);
  if (lacksUnit(said, plainSentences.join('\n'))) return 'number';
  const unsaid = findUnsaidNumber(said, plainText(quotes.join(' \n ')), plainSentences);
  if (unsaid) return unsaid;
  return lacksName(said, { texts: [...sentences, ...labels], words, recognized }) || lacksWords(said, quoted) ? 'name' : undefined;
}

const address =
  /(?:[a-z][a-z\d+.-]{0,40}:)?\/\/[^\s<>)\]]+|(?:data|javascript|mailto):[^\s<>)\]]+|www\.[^\s<>)\]]+|[^\s<>(]{1,100}@[^\s<>)]+/giu;

/** Whether a sentence has an address that its quotes do not have. A browser that shows the sentence might request it. */
function lacksAddress(sentence: string, quotes: string[]): boolean {
  return (sentence.match(address) ?? []).some(
    (found) => !quotes.some((quote) => quote.includes(found.replace(/(?<![.,;:!?])[.,;:!?]+$/, ''))),
  );
}

/** Of a recognized text and its quotation, whose digits are equal: the one with more dates and number words, since it was misread less. */
export function clearer(read: string, quoted: string): string {
  const factsOf = (text: string) => {
    const plain = plainText(text);
    return readDates(plain).length + readNumberWords(plain, [...languagesOf(plain), 'en']).length;
  };
  return factsOf(quoted) > factsOf(read) ? quoted : read;
}

/** Whether a quote is too short to prove anything: it has no number, and hardly any word but stop words. */
export function isTooShort(quote: string): boolean {
  const words = wordsOf(quote).filter((word) => !isStopWord(word));
  if (isCaseless(quote)) return words.join('').length < 3;
  return !(words.length > 1 || words.some((word) => /\p{N}/u.test(word) || word.length > 7)) || words.join('').length < 4;
}
