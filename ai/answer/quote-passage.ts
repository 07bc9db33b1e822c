import { splitBlocks } from '../summarize/split-blocks.ts';
import { splitSentences } from '../summarize/split-sentences.ts';

/** A sentence, list item or table row of a passage. */
export interface Quoted {
  /** The sentence as it reads, without line breaks and the marks of Markdown. */
  text: string;
  /** The same as it stands in the passage. */
  quote: string;
  /** The title above it in the passage; empty if there is none. */
  heading: string;
  /** The sentence before it in its paragraph; empty if it is the first. */
  before: string;
}

const maxQuoteLength = 1_000;
const opening = /(?<![("“«„‘'[*_`$€£¥])[("“«„‘'[*_`$€£¥]+$/u;
const closing = /^[)\]}»”’"'*_`.!?…。！？%€]+/u;

/** The sentences of a passage in their order, each with the part of the passage that it is. One that stands nowhere in it is left out. */
export function quotePassage(passage: string): Quoted[] {
  const letters = readLetters(passage);
  const found: Quoted[] = [];
  let heading = '';
  let from = 0;
  for (const block of splitBlocks(passage)) {
    if (block.kind === 'heading') heading = block.text;
    const sentences = block.kind === 'heading' || block.kind === 'row' ? [block.text] : splitSentences(block.text);
    for (const [index, text] of sentences.entries()) {
      const place = letters.find(text, from);
      if (!place) continue;
      from = place.end;
      const quote = passage.slice(place.startIndex, place.endIndex);
      if (quote.length > maxQuoteLength) continue;
      // The cells of a row of CSV are left as they are, since a comma in a number means something else than one with a space.
      found.push({
        text: block.kind === 'row' && !/[|\t]/.test(quote) ? quote : text,
        quote,
        heading: block.kind === 'heading' ? '' : heading,
        before: sentences[index - 1] ?? '',
      });
    }
  }
  return found;
}

const letter = /[\p{L}\p{M}\p{N}]/u;

/** Finds sentences by their letters and digits alone, since splitting a text removes marks, and joins lines. */
function readLetters(passage: string) {
  let letters = '';
  const indexes: number[] = [];
  let index = 0;
  for (const character of passage) {
    if (letter.test(character)) {
      letters += character;
      for (let unit = 0; unit < character.length; unit += 1) indexes.push(index + unit);
    }
    index += character.length;
  }
  const find = (sentence: string, from: number) => {
    const wanted = lettersOf(sentence);
    const start = wanted === '' ? -1 : letters.indexOf(wanted, from);
    if (start >= 0) return placeOf(start, start + wanted.length);
    // The address of a link stands between the words of its sentence.
    const [head, tail] = [wanted.slice(0, 8), wanted.slice(-8)];
    const headAt = wanted.length < 16 ? -1 : letters.indexOf(head, from);
    const tailAt = headAt < 0 ? -1 : letters.indexOf(tail, headAt + wanted.length - tail.length);
    return tailAt < 0 ? undefined : placeOf(headAt, tailAt + tail.length);
  };
  const placeOf = (start: number, end: number) => {
    const first = indexes[start] ?? 0;
    const last = (indexes[end - 1] ?? 0) + 1;
    const before = opening.exec(passage.slice(Math.max(0, first - 4), first))?.[0] ?? '';
    const after = closing.exec(passage.slice(last, last + 6))?.[0] ?? '';
    return { end, startIndex: first - before.length, endIndex: last + after.length };
  };
  return { find };
}

function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
}
