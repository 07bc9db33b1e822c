const romans: [number, string][] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
];
const chineseDigits = '〇一二三四五六七八九';
const latin = [...'abcdefghijklmnopqrstuvwxyz'];
const cyrillic = [...'абвгдежзиклмнопрстуфхцчшщыэюя'];
const hangul = [...'가나다라마바사아자차카타파하'];
const circled = 0x2460;

/** A number as a list of Word shows it, by the name that the file has for the form; in digits for forms that are not known. */
export function showListNumber(value: number, form: string): string {
  switch (form) {
    case 'none':
    case 'bullet':
      return '';
    case 'decimalZero':
      return String(value).padStart(2, '0');
    case 'lowerRoman':
      return toRoman(value);
    case 'upperRoman':
      return toRoman(value).toUpperCase();
    case 'lowerLetter':
      return toLetters(value, latin);
    case 'upperLetter':
      return toLetters(value, latin).toUpperCase();
    case 'russianLower':
      return toLetters(value, cyrillic);
    case 'russianUpper':
      return toLetters(value, cyrillic).toUpperCase();
    case 'ganada':
      return toLetters(value, hangul);
    case 'ordinal':
      return `${value}${ordinalEnd(value)}`;
    case 'decimalEnclosedCircle':
    case 'decimalEnclosedCircleChinese':
      return value >= 1 && value <= 20 ? String.fromCharCode(circled + value - 1) : String(value);
    default:
      return /^(?:chineseCounting|taiwaneseCounting|japaneseCounting|koreanCounting)/.test(form) ? toChinese(value) : String(value);
  }
}

function toRoman(value: number): string {
  if (value < 1 || value > 4999) return String(value);
  let [rest, text] = [value, ''];
  for (const [worth, sign] of romans) for (; rest >= worth; rest -= worth) text += sign;
  return text;
}

/** a to z, then aa, bb, as Word counts on. */
function toLetters(value: number, letters: string[]): string {
  const times = Math.ceil(value / letters.length);
  if (value < 1 || times > 30) return String(value);
  return (letters[(value - 1) % letters.length] ?? '').repeat(times);
}

function toChinese(value: number): string {
  const digit = (of: number) => chineseDigits[of] ?? '';
  if (value < 1 || value > 99) return [...String(value)].map((one) => digit(Number(one))).join('');
  const [tens, ones] = [Math.floor(value / 10), value % 10];
  return `${tens > 1 ? digit(tens) : ''}${tens > 0 ? '十' : ''}${ones > 0 ? digit(ones) : ''}`;
}

function ordinalEnd(value: number): string {
  if (value % 100 >= 11 && value % 100 <= 13) return 'th';
  return ['th', 'st', 'nd', 'rd'][value % 10] ?? 'th';
}
