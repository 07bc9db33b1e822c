const combiningMarks = /[\u0300-\u036f]/g;
// Scripts that write no spaces between words: their words are approximated by pairs of characters.
const unspacedRun =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々]+/gu;
const word = /\p{N}+(?:[.,]\p{N}+)*|[\p{L}\p{M}\p{N}]+/gu;
const possessive = /['’](?:s|S)?(?!\p{L})/gu;

/**
 * The words of a text in order: compatibility forms unified, accents dropped, lower case, `1,200` as `1200`. Runs of an unspaced
 * script become overlapping pairs of characters.
 */
export function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(combiningMarks, '').toLowerCase().replace(possessive, ' ');
  const words: string[] = [];
  const spaced = plain.replace(unspacedRun, (run) => {
    words.push(...pairs(run));
    return ' ';
  });
  for (const [found] of spaced.matchAll(word)) words.push(/^\p{N}/u.test(found) ? found.replaceAll(',', '') : found);
  return words;
}

function pairs(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
