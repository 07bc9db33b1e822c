import type { FormatCallback } from 'html-to-text';
import { showListNumber } from '../office/number-words.ts';

/** The forms of numbers that `type` names, by the names that Word has for them. */
const forms: Record<string, string> = { a: 'lowerLetter', A: 'upperLetter', i: 'lowerRoman', I: 'upperRoman' };

/** Writes a list with the numbers that a browser shows: from `start` on, backwards if it is `reversed`, and by the `value` of an item. */
export const formatNumbered: FormatCallback = ({ attribs, children, parent }, walk, builder) => {
  const items = children.filter(({ type, data }) => type !== 'text' || /\S/.test(data ?? ''));
  const step = attribs?.reversed === undefined ? 1 : -1;
  let next = toWhole(attribs?.start) ?? (step > 0 ? 1 : items.filter(({ name }) => name === 'li').length);
  const isWithin = parent?.name === 'li';
  const prefixes = items.map((item) => {
    if (item.name !== 'li') return '';
    const number = toWhole(item.attribs?.value) ?? next;
    next = number + step;
    return `${isWithin ? '' : ' '}${showListNumber(number, forms[attribs?.type] ?? 'decimal')}. `;
  });
  const [lineBreaks, maxPrefixLength] = [isWithin ? 1 : 2, prefixes.reduce((most, { length }) => Math.max(most, length), 0)];
  builder.openList({ interRowLineBreaks: 1, leadingLineBreaks: lineBreaks, maxPrefixLength, prefixAlign: 'left' });
  for (const [index, item] of items.entries()) {
    builder.openListItem({ prefix: prefixes[index] ?? '' });
    walk([item], builder);
    builder.closeListItem();
  }
  builder.closeList({ trailingLineBreaks: lineBreaks });
};

function toWhole(value: string | undefined): number | undefined {
  return value !== undefined && /^\s*[-+]?\d{1,9}/.test(value) ? Number.parseInt(value, 10) : undefined;
}
