/**
 * The text of a page that has a layer of text, such as a stamp, and was recognized: what was recognized, and then the lines of the layer that
 * are not in it to the letter. The layer alone if recognition found no more than that.
 */
export function joinLayers(layer: string, recognized: string): string {
  if (layer === '') return recognized;
  if (lettersIn(recognized) <= lettersIn(layer)) return layer;
  const found = collapse(recognized);
  const missing = layer.split('\n').filter((line) => !found.includes(collapse(line)));
  return [recognized, missing.join('\n')].filter((part) => part !== '').join('\n\n');
}

function lettersIn(text: string): number {
  return text.replace(/[^\p{L}\p{N}]/gu, '').length;
}

function collapse(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
