import { countCharacters } from '../characters.ts';
import { createTermFinder } from '../lexical/find-terms.ts';
import { queryTermsOf } from '../lexical/terms.ts';
import { ScanPace } from '../scan-pace.ts';

/** A part of a chunk's text that matched, in characters (code points) of the text. */
export interface Highlight {
  start: number;
  /** After the last character. */
  end: number;
}

/** Prepares to highlight the words of a query, as a search by words compares them. Returns what finds them in a text, in their order. */
export function createHighlighter(query: string): (text: string) => Highlight[] {
  const find = createTermFinder(new Set(queryTermsOf(query)));
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

/** Highlights the words of a query in each of these texts, in turns with scans and searches of other keys: some texts take milliseconds. */
export async function highlightTexts(query: string, texts: string[], key: string): Promise<Highlight[][]> {
  const highlight = createHighlighter(query);
  const pace = new ScanPace(key);
  const highlights: Highlight[][] = [];
  for (const text of texts) {
    if (pace.isOver()) await pace.next();
    highlights.push(highlight(text));
  }
  return highlights;
}
