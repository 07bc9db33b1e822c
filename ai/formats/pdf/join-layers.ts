import { poorConfidence, type Recognized } from '../../recognition/task.ts';
import { collapse, withoutMarks } from '../outline.ts';

/** In letters: a shorter text beside a longer one is a speckle. */
const fewLetters = 20;

/**
 * The text of a page that has a layer of text, such as a stamp or a footer, and was recognized: the longer one, and then what is only in the
 * other. The layer alone if recognition found no more than that, or is so unsure that it took a picture for text.
 */
export function joinLayers(layer: string, { text: recognized, confidence }: Pick<Recognized, 'text' | 'confidence'>): string {
  if (layer === '') return recognized;
  if ((confidence ?? 100) < poorConfidence) return layer;
  const [own, found] = [lettersIn(layer), lettersIn(recognized)];
  if (found > own) return join(recognized, missingFrom(recognized, layer));
  return found < fewLetters || isWithin(layer, recognized) ? layer : join(layer, missingFrom(layer, recognized));
}

/** The lines of one text that are not in another to the letter. */
function missingFrom(text: string, other: string): string {
  const found = collapse(withoutMarks(text));
  return other
    .split('\n')
    .filter((line) => !found.includes(collapse(withoutMarks(line))))
    .join('\n');
}

function join(...texts: string[]): string {
  return texts.filter((text) => text.trim() !== '').join('\n\n');
}

/** Whether most words of a text are in another, so that it is the same one, read again. */
function isWithin(text: string, other: string): boolean {
  const words = new Set(wordsOf(text));
  const others = wordsOf(other);
  return others.filter((word) => words.has(word)).length * 2 >= others.length;
}

function wordsOf(text: string): string[] {
  return (
    withoutMarks(text)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

function lettersIn(text: string): number {
  return text.replace(/[^\p{L}\p{N}]/gu, '').length;
}
