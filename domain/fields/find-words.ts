/** A word of a text, folded, with its place. Characters of scripts without spaces are words by themselves. */
interface FoundWord {
  word: string;
  start: number;
  end: number;
}

const word =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*|\p{N}+(?:[.,:/'’-]\p{N}+)*|[\p{Sc}%‰°]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{M}])+/gu;

/** The words and numbers of a text, in order. */
export function readWords(text: string): FoundWord[] {
  return [...text.matchAll(word)].map(({ 0: found, index }) => ({
    word: found.normalize('NFKC').toLowerCase(),
    start: index,
    end: index + found.length,
  }));
}

/** Where words stand one after the other among others; undefined if they do not. */
export function findWords(wanted: string[], words: string[]): number | undefined {
  if (wanted.length === 0) return undefined;
  const last = words.length - wanted.length;
  for (let at = 0; at <= last; at += 1) if (wanted.every((one, index) => one === words[at + index])) return at;
  return undefined;
}

/**
 * The part of a text that has the letters and digits of a value, between word boundaries, on one line; undefined if there is none. It has the
 * signs around them that the value has, if the text has them, too.
 */
export function squeeze(value: string, text: string): string | undefined {
  const wanted = lettersOf(value);
  if (wanted === '') return undefined;
  const words = readWords(text);
  for (let from = 0; from < words.length; from += 1) {
    let said = '';
    for (let to = from; to < words.length && said.length < wanted.length; to += 1) {
      said += lettersOf(words[to]?.word ?? '');
      if (said === wanted) return withSigns(value, text, { start: words[from]?.start ?? 0, end: words[to]?.end ?? 0 }).replace(/\s+/g, ' ');
    }
  }
  return undefined;
}

function withSigns(value: string, text: string, { start, end }: { start: number; end: number }): string {
  const own = readWords(value);
  const before = value.slice(0, own[0]?.start);
  const after = value.slice(own.at(-1)?.end);
  const from = text.slice(0, start).endsWith(before) ? start - before.length : start;
  return text.slice(from, text.startsWith(after, end) ? end + after.length : end);
}

function lettersOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Sc}%‰°]+/gu, '');
}
