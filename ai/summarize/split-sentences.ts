import { canEndSentence, joinsNext, opensSentence } from './abbreviations.ts';

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/**
 * Splits a paragraph into sentences. Unicode's rules find the places where a sentence may end (also in scripts with marks of their
 * own); an abbreviation, an initial, a number or a lower-case letter that follows makes the place no end.
 */
export function splitSentences(paragraph: string): string[] {
  const sentences: string[] = [];
  let current = '';
  for (const { segment } of segmenter.segment(paragraph)) {
    if (current !== '' && !endsBefore(current, segment)) {
      current += segment;
      continue;
    }
    if (current.trim() !== '') sentences.push(current.trim());
    current = segment;
  }
  if (current.trim() !== '') sentences.push(current.trim());
  return sentences;
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
  // A mark inside an open bracket does not end the sentence around it.
  if (countOf(before, '(') > countOf(before, ')') && before.length < 400) return false;
  const lastWord = /(\S+)$/u.exec(before)?.[1] ?? '';
  if (!lastWord.endsWith('.')) return true;
  if (joinsNext(lastWord, after)) return false;
  return canEndSentence(lastWord) || opensSentence(after);
}

function countOf(text: string, character: string): number {
  return text.split(character).length - 1;
}
