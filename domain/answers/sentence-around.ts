import type { Span } from '../characters.ts';

/** Text that is further away belongs to another sentence, or to none. */
const reach = 300;
const border = /[.!?](?=\s|$)|[。！？]|\n\s*\n/u;
const borders = new RegExp(border, 'gu');
const ended = /[.!?。！？][)\]»”’"']*$/u;

/** A part of a text, extended to its whole sentence, which may name the subject. */
export function sentenceAround(text: string, { start, end }: Span): string {
  const before = text.slice(Math.max(0, start - reach), start);
  const last = [...before.matchAll(borders)].at(-1);
  const part = text.slice(start, end);
  const after = ended.test(part) ? '' : text.slice(end, end + reach);
  const stop = after.search(border);
  return `${before.slice(last ? last.index + last[0].length : 0)}${part}${stop < 0 ? after : after.slice(0, stop)}`;
}
