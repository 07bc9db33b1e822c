/** A text for a terminal: on one line, and without the control characters with which a document could steer it. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ').trim();
}

/** Breaks a text into indented lines of at most `width` columns; a longer word stays whole. */
export function wrap(text: string, { width, indent }: { width: number; indent: number }): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of plain(text).split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width - indent) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].map((content) => ' '.repeat(indent) + content);
}

/** The part of a text, at most `length` characters, that has the most words of a query; the last such part, since it begins with them. */
export function excerpt(text: string, query: string, length: number): string {
  const wanted = stemsOf(query);
  const words = plain(text).split(' ');
  let best = { from: 0, to: 0, score: -1 };
  for (let from = 0; from < words.length; from++) {
    if (from > 0 && !startsSentence(words, from)) continue;
    let to = from;
    for (let size = 0; to < words.length && size + (words[to]?.length ?? 0) < length; to++) size += (words[to]?.length ?? 0) + 1;
    const found = stemsOf(words.slice(from, to).join(' '));
    const score = [...wanted].filter((stem) => found.has(stem)).length;
    if (score >= best.score) best = { from, to, score };
  }
  const part = words.slice(best.from, best.to).join(' ');
  return `${best.from > 0 ? '… ' : ''}${part}${best.to < words.length ? ' …' : ''}`;
}

/** The first sentence of a text, as far as punctuation shows it. */
export function firstSentence(text: string): string {
  const line = plain(text);
  return /^.{20,}?[.!?](?=\s|$)/u.exec(line)?.[0] ?? line;
}

/** `12 B`, `11.9 kB`, `3.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function startsSentence(words: string[], index: number): boolean {
  return /[.!?:|]$/.test(words[index - 1] ?? '');
}

/** The beginnings of a text's longer words: enough to tell whether two texts speak of the same. */
function stemsOf(text: string): Set<string> {
  return new Set((text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []).map((word) => word.slice(0, 5)));
}
