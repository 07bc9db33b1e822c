import { countCharacters } from '../characters.ts';
import { createTermFinder } from './find-terms.ts';
import { readQuery } from './read-query.ts';

/** A part of a chunk's text that matched, in characters (code points) of the text. */
export interface Highlight {
  start: number;
  /** The index after the last character. */
  end: number;
}

/** Returns a function that finds the words of a query, and these other terms, in a text, in order, as a search by words compares them. */
export function createHighlighter(query: string, nearTerms: string[] = []): (text: string) => Highlight[] {
  const { terms, languages } = readQuery(query);
  const find = createTermFinder(new Set([...terms.keys(), ...nearTerms]), languages);
  return (text) => {
    let [passed, characters] = [0, 0];
    const toCharacters = (index: number) => {
      characters += countCharacters(text.slice(passed, index));
      passed = index;
      return characters;
    };
    return find(text).map(({ start, end }) => ({ start: toCharacters(start), end: toCharacters(end) }));
  };
}
