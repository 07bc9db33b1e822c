/** A number in digits, with its possible values as plain text: `1250.5`, `-3`. */
interface WrittenNumber {
  start: number;
  end: number;
  readings: string[];
}

const number = /(?<![\p{L}\p{N}])-(?=\d)|(?:\d{1,3}(?: \d{3}(?!\d))+|\d+)(?:[.,:'/-](?:\d{1,3}(?: \d{3}(?!\d))+|\d+))*/gu;
const scales: [RegExp, number[]][] = [
  [/^ ?(?:thousand|tsd\.?|tausend|mille|mil|тыс\.?|тысяч\p{L}*|k)(?!\p{L})/iu, [1e3]],
  [/^ ?(?:million|millions|mio\.?|millionen|mill[oó]n|millones|milion[ei]|milh[õã][eo]s?|млн\.?|миллион\p{L}*)(?!\p{L})/iu, [1e6]],
  [/^ ?(?:billion|billions|bn|mrd\.?|milliarden?|milliards?|miliard[io]|mil millones|млрд\.?)(?!\p{L})/iu, [1e9, 1e12]],
  [/^ ?千/u, [1e3]],
  [/^ ?[万萬만]/u, [1e4]],
  [/^ ?[億亿억]/u, [1e8]],
];

/** The numbers in digits of a plain text, each with its readings: 1.250 may be 1250 or 1.250, `5 million` is 5000000. */
export function readNumbers(text: string): WrittenNumber[] {
  const found: WrittenNumber[] = [];
  let minus: number | undefined;
  for (const { 0: token, index } of text.matchAll(number)) {
    if (token === '-') {
      minus = index;
      continue;
    }
    const cells = cellsOf(token);
    if (cells.length > 1) {
      for (const cell of cells) found.push({ start: index, end: index + token.length, readings: unscaled(cell) });
      continue;
    }
    const end = index + token.length;
    const sign = minus === index - 1 ? '-' : '';
    const scale = scales.find(([form]) => form.test(text.slice(end, end + 20)))?.[1];
    found.push({ start: index, end, readings: readingsOf(token, scale).map((reading) => sign + reading) });
    minus = undefined;
  }
  return found;
}

/** `655,3000,54` are cells of a table, since these are no groups of a number. */
function cellsOf(token: string): string[] {
  const groups = token.split(',');
  const isNumber = groups.length < 3 || (groups.at(-1)?.length === 3 && groups.every((group) => /^\d{1,3}$/.test(group)));
  return isNumber ? [token] : groups;
}

function readingsOf(token: string, scale: number[] | undefined): string[] {
  const values = unscaled(token);
  if (!scale) return values;
  return values.flatMap((value) =>
    Number.isFinite(Number(value)) ? scale.map((factor) => String(+(Number(value) * factor).toPrecision(15))) : [],
  );
}

function unscaled(token: string): string[] {
  if (/^\d+$/.test(token)) return [...new Set([token, trim(token)])];
  // A time, an identifier, a range or a date has no other value than its own text.
  if (/[:/-]/.test(token)) return [token];
  const groups = token.split(/[.,' ]/);
  const signs = token.replace(/\d/g, '');
  const [last = '', others] = [groups.at(-1), groups.slice(0, -1)];
  const thousands = signs.length > 0 && /^[1-9]\d{0,2}$/.test(groups[0] ?? '');
  const allOfThree = groups.slice(1).every((group) => group.length === 3);
  const oneSign = new Set(signs).size === 1;
  if (oneSign && allOfThree && thousands) {
    const alternative = signs.length === 1 && /[.,]/.test(signs) ? [`${groups[0]}.${last}`] : [];
    return [groups.join(''), ...alternative];
  }
  const decimal = `${trim(others.join(''))}.${last}`.replace(/\.0+$|(?<!0)0+$/, '');
  const isDecimal = /[.,]$/.test(signs);
  if (isDecimal && signs.length === 1) return [decimal];
  if (isDecimal && new Set(signs.slice(0, -1)).size === 1 && !signs.slice(0, -1).includes(signs.at(-1) ?? '')) return [decimal];
  // 12,50,000 as in India; 2.0.1 is a version.
  return signs.includes(',') && oneSign && last.length === 3 ? [groups.join('')] : [token];
}

function trim(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '');
}
