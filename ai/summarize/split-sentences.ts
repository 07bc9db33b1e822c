import { canEndSentence, joinsNext, opensSentence } from './abbreviations.ts';

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

// No word that decides is longer. Looking at more would cost a long paragraph without an end the square of its length.
const tailLength = 80;
const longestBracket = 400;

/**
 * Splits a paragraph into sentences. Unicode's rules find the places where a sentence may end (also in scripts with marks of their
 * own); an abbreviation, an initial, a number or a lower-case letter that follows makes the place no end.
 */
export function splitSentences(paragraph: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  let end = 0;
  let bracketStart: number | undefined;
  const close = () => {
    const sentence = paragraph.slice(start, end).trim();
    if (sentence !== '') sentences.push(sentence);
    start = end;
    bracketStart = undefined;
  };
  for (const { segment, index } of segmenter.segment(paragraph)) {
    const inBracket = bracketStart !== undefined && index - bracketStart < longestBracket;
    if (index > start && !inBracket && endsBefore(paragraph.slice(Math.max(start, index - tailLength), index), segment)) close();
    end = index + segment.length;
    bracketStart = openBracket(segment, index, bracketStart);
  }
  close();
  return sentences;
}

/** Where the bracket stands that is open after a segment: a mark inside it does not end the sentence around it. */
function openBracket(segment: string, index: number, before: number | undefined): number | undefined {
  const opens = segment.lastIndexOf('(');
  const closes = segment.lastIndexOf(')');
  if (opens > closes) return index + opens;
  return closes >= 0 ? undefined : before;
}

/** Whether a sentence ends between two segments. */
function endsBefore(current: string, next: string): boolean {
  const before = current.trimEnd();
  const after = next.trimStart();
  if (after === '') return false;
  // Closing quotes and brackets belong to the sentence that they close.
  if (/^[)\]}»”’"']+(?:\s|$)/u.test(after)) return false;
  if (/^\p{Ll}/u.test(after)) return false;
  // Japanese quotes what was said, marks and all, inside the sentence that tells it.
  if (/[」』]$/u.test(before) && /^(?:と|って)/u.test(after)) return false;
  const lastWord = /(\S+)$/u.exec(before)?.[1] ?? '';
  if (!lastWord.endsWith('.')) return true;
  if (joinsNext(lastWord, after)) return false;
  return canEndSentence(lastWord) || opensSentence(after);
}
