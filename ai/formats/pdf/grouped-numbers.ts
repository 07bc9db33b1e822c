/** Numbers in groups, such as `011 234-5678`, as far as they stand together. */
const groups = /(?:\(\d+\)|\+?\d+(?:[.,:/]\d+)*\+?)(?:[ \-–](?:\(\d+\)|\+?\d+(?:[.,:/]\d+)*\+?))*/g;
/** With the sign of a country, or a zero before the area: the digits are counted by themselves. */
const international = /^\(?(?:\+|00)[1-9][\d() -]*$/;
const national = /^\(?0[1-9][\d() -]*$/;
const date = /^\d\d?[ -]\d\d?[ -]\d{4}$/;
/** No number begins with `000`. */
const thousands = /^[1-9]\d{0,2}(?: \d{3})* 000$/;
const years = /^((?:1[3-9]|20)\d\d)[-–]((?:1[3-9]|20)\d\d)$/;
const mirrored: Record<string, string> = { '(': ')', ')': '(' };

/**
 * Finds the numbers whose groups are read from the left in a line that is read from the right: where each starts, and where it has ended. The
 * text of the line is given as it is drawn, from the left. Whether somebody typed them so that their groups are drawn from the left, as pages with `<bdi>`
 * are, or each by itself, is told only by what a number may begin with.
 */
export function findReadFromLeft(drawn: string): [start: number, end: number][] {
  const found = [...drawn.matchAll(groups)].filter(([number]) => isWhole(number) && !isWhole(fromRight(number)));
  return found.map(({ 0: number, index }) => [index, index + number.length]);
}

/** Whether a line is a number whose groups are read from the right. */
export function isReadFromRight(drawn: string): boolean {
  return drawn.match(groups)?.[0] === drawn && !isWhole(drawn) && isWhole(fromRight(drawn));
}

function fromRight(number: string): string {
  const parts = number.match(/\d+(?:[.,:/]\d+)*|\D/g) ?? [];
  return parts.reduceRight((text, part) => text + (mirrored[part] ?? part), '');
}

/** Whether a number begins as such a number does: a telephone number, one with thousands, or years one after the other. */
function isWhole(number: string): boolean {
  const digits = number.replace(/\D/g, '').length;
  if (international.test(number)) return digits >= 9 && digits <= 16;
  if (national.test(number)) return digits >= 8 && digits <= 11 && !date.test(number);
  const [, from = '', to = ''] = years.exec(number) ?? [];
  return thousands.test(number) || from < to;
}
