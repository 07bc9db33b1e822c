import { poorConfidence, type Recognized } from '../ocr/task.ts';
import { collapse, withoutMarks } from './outline.ts';

/**
 * The text of a page that has a layer of text, such as a stamp, and was recognized: what was recognized, and then the lines of the layer that
 * are not in it to the letter. The layer alone if recognition found no more than that, or is so unsure that it took a picture for text.
 */
export function joinLayers(layer: string, { text: recognized, confidence }: Recognized): string {
  if (layer === '') return recognized;
  if ((confidence ?? 100) < poorConfidence || lettersIn(recognized) <= lettersIn(layer)) return layer;
  const found = collapse(recognized);
  const missing = layer.split('\n').filter((line) => !found.includes(collapse(withoutMarks(line))));
  return [recognized, missing.join('\n')].filter((part) => part !== '').join('\n\n');
}

function lettersIn(text: string): number {
  return text.replace(/[^\p{L}\p{N}]/gu, '').length;
}
