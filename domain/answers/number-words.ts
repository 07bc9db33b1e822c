/** Numbers as words. One alone is left out, since it is an article in most languages; it counts only after other number words. */
const words: Record<string, string> = {
  en: `two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 thirteen=13 fourteen=14 fifteen=15 sixteen=16
seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 forty=40 fifty=50 sixty=60 seventy=70 eighty=80 ninety=90 hundred=100 thousand=1000
million=1000000 millions=1000000 billion=1000000000`,
  de: `zwei=2 drei=3 vier=4 fünf=5 sechs=6 sieben=7 acht=8 neun=9 zehn=10 elf=11 zwölf=12 dreizehn=13 vierzehn=14 fünfzehn=15 sechzehn=16
siebzehn=17 achtzehn=18 neunzehn=19 zwanzig=20 dreißig=30 vierzig=40 fünfzig=50 sechzig=60 siebzig=70 achtzig=80 neunzig=90 hundert=100
tausend=1000 million=1000000 millionen=1000000 milliarde=1000000000 milliarden=1000000000`,
  fr: `deux=2 trois=3 quatre=4 cinq=5 six=6 sept=7 huit=8 neuf=9 dix=10 onze=11 douze=12 treize=13 quatorze=14 quinze=15 seize=16 vingt=20 vingts=20
trente=30 quarante=40 cinquante=50 soixante=60 cent=100 cents=100 mille=1000 million=1000000
millions=1000000 milliard=1000000000 milliards=1000000000`,
  es: `dos=2 tres=3 cuatro=4 cinco=5 seis=6 siete=7 ocho=8 nueve=9 diez=10 once=11 doce=12 trece=13 catorce=14 quince=15 dieciséis=16
diecisiete=17 dieciocho=18 diecinueve=19 veinte=20 veintidós=22 veinticinco=25 veintisiete=27 treinta=30 cuarenta=40 cincuenta=50 sesenta=60
setenta=70 ochenta=80 noventa=90 cien=100 ciento=100 mil=1000 millón=1000000 millones=1000000`,
  it: `due=2 tre=3 quattro=4 cinque=5 sei=6 sette=7 otto=8 nove=9 dieci=10 undici=11 dodici=12 tredici=13 quattordici=14 quindici=15 sedici=16
diciassette=17 diciotto=18 diciannove=19 venti=20 trenta=30 quaranta=40 cinquanta=50 sessanta=60 settanta=70 ottanta=80 novanta=90 cento=100
mille=1000 mila=1000 milione=1000000 milioni=1000000 miliardo=1000000000 miliardi=1000000000`,
};

const tables = new Map(
  Object.entries(words).map(([language, list]) => [
    language,
    new Map(list.split(/\s+/).map((entry) => [entry.split('=')[0] ?? '', Number(entry.split('=')[1])])),
  ]),
);
const one = new Set(['one', 'ein', 'un', 'uno']);
const joining = new Set(['and', 'und', 'et', 'y', 'e']);
const chinese = new Map([...'〇一二三四五六七八九'].map((digit, value) => [digit, value]));
const chineseTens = new Map([
  ['十', 10],
  ['百', 100],
  ['千', 1_000],
  ['万', 10_000],
  ['億', 100_000_000],
  ['亿', 100_000_000],
]);

/** The numbers in words of a plain text in these languages. */
export function readNumberWords(text: string, languages: string[]): number[] {
  return [...[...new Set(languages)].flatMap((name) => readSpaced(text, tables.get(name) ?? new Map())), ...readChinese(text)];
}

function readSpaced(text: string, table: ReadonlyMap<string, number>): number[] {
  const found: number[] = [];
  let run: string[] = [];
  const close = () => {
    const values = run.map((part) => table.get(part) ?? 1);
    // In `5 million` the word is part of a number in digits.
    if (values.some((value) => value < 1_000)) found.push(amountOf(values));
    run = [];
  };
  for (const token of text.toLowerCase().split(/[ -]+/)) {
    const part = token.replace(/^[^\p{L}]+|(?<=\p{L})[^\p{L}]+$/gu, '');
    const parts = table.has(part) || (run.length > 0 && one.has(part)) ? [part] : splitGerman(part, table);
    if (parts.length > 0) run.push(...parts);
    else if (!(run.length > 0 && joining.has(part))) close();
    if (/[^\p{L}]$/u.test(token)) close();
  }
  close();
  return found;
}

/** German writes the parts of a number together: zweiundzwanzig. */
function splitGerman(word: string, table: ReadonlyMap<string, number>): string[] {
  if (!table.has('zwei')) return [];
  const ones = /^(.+)und/s.exec(word)?.[1] ?? '';
  const tens = word.slice(ones.length + 'und'.length);
  if ((table.has(ones) || one.has(ones)) && table.has(tens)) return [tens, ones];
  const [, count = '', unit = ''] = /^(\p{L}+?)(hundert|tausend)$/u.exec(word) ?? [];
  return table.has(count) ? [count, unit] : [];
}

function amountOf(parts: number[]): number {
  let [total, current] = [0, 0];
  for (const part of parts) {
    if (part >= 1_000) [total, current] = [total + (current || 1) * part, 0];
    else current = part === 100 || (part === 20 && current === 4) ? (current || 1) * part : current + part;
  }
  return total + current;
}

/** A single character is more likely a part of a word. */
function readChinese(text: string): number[] {
  return [...text.matchAll(/[〇一二三四五六七八九十百千万億亿]{2,}|[二三四五六七八九](?=[年月日人枚回個度名時时分秒岁])/gu)].map(
    ([run]) => {
      let [total, section, digit] = [0, 0, 0];
      for (const character of run) {
        const ten = chineseTens.get(character);
        if (ten === undefined) digit = digit * 10 + (chinese.get(character) ?? 0);
        else if (ten >= 10_000) [total, section, digit] = [total + (section + digit || 1) * ten, 0, 0];
        else [section, digit] = [section + (digit || 1) * ten, 0];
      }
      return total + section + digit;
    },
  );
}
