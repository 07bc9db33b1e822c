/** Particles of nouns, of which two may follow each other, and what `이다` (to be) becomes. */
const particles =
  /^(.{2,}?)들?(?:에서|에게|에|께서|께|한테|으로서|로서|으로|로|까지|부터|보다|처럼|마다|만|과|와|하고|이나|나|이며|며|입니까|입니다|인가|인지|이에|예|이란|란|이라고|라고)?(?:은|는|이|가|을|를|의|도|만|요)?$/u;
/** A single character is seldom a word before others. */
const particlesOfOne = /^(.)(?:은|는|이|가|을|를|에|의|에서|으로|로)$/u;
/** What makes a verb of a noun: `신청하려면` is of `신청`. */
const madeVerb = /^(.{2,}?)(?:하|해|했|합|할|한|함|되|돼|됐|됩|될|된|됨|시키|시켜|시킵)/u;

/** Final consonants, which NFD writes as letters of their own: many endings begin with one. */
const [n, l, m, b, ss] = ['\u11ab', '\u11af', '\u11b7', '\u11b8', '\u11bb'];
const vowel = '(?:어|아|여)?';
const link = '(?:으)?';
/** The tense and the ending of a verb. `있다` (to be there) ends like a past tense. */
const endings = new RegExp(
  `^(.+?)(?:${link}시|${link}셔)?(?:${vowel}(?<!이)${ss}|겠){0,2}(?:습니까|습니다|${b}니까|${b}니다|나요|(?:는|은|${n})가(?:요)?|(?:을|${l})까(?:요)?|${vowel}요|지요|죠\
|(?:는|은|${n}|을|${l})?지|${link}려면|${link}려고|${link}면|고|${vowel}야|${vowel}서|는|은|을|${n}|${l}|${m}|음|던|기|게|도록|${link}니|(?:는|${n})?다|${link}며|거나|${link}십시오\
|${link}세요)$`.normalize('NFD'),
  'u',
);
/** A stem's last vowel before some endings, and the `ㄹ` that others drop: `바꿔` is of `바꾸다`, `엽니다` of `열다`. */
const contracted = [
  [/\u116f$/u, '\u116e'],
  [/\u116a$/u, '\u1169'],
  [/\u116b$/u, '\u116c'],
  [/(?<=...)\u1167$/u, '\u1175'],
  [/(?<=\u1112)\u1162$/u, '\u1161'],
  [/\u11af$/u, ''],
] as const;
/** A longer run of characters is no word. */
const maxLength = 32;

/** Whether a word of `lower` is Korean. */
export function isKorean(word: string): boolean {
  // A regular expression takes twice as long, for each pair of words that are compared.
  const first = word.charCodeAt(0);
  return first >= 0xac00 && first <= 0xd7a3;
}

/** The Korean words of a text in the form of `lower`, as they stand between spaces: with particles and endings. */
export function koreanWordsOf(lowered: string): string[] {
  return lowered.match(/[\uac00-\ud7a3]+/g) ?? [];
}

/**
 * The words that a Korean word may be a form of, itself first: nouns without their particles, and a verb nearly as dictionaries have it. Only a
 * dictionary tells which one it is: `휴가` is a leave, or `휴` before a particle.
 */
export function koreanFormsOf(word: string): string[] {
  if (word.length > maxLength) return [word];
  const nouns = [particles, particlesOfOne, madeVerb].flatMap((pattern) => pattern.exec(word)?.[1] ?? []);
  const stem = endings.exec(word.normalize('NFD'))?.[1];
  const verbs = stem === undefined ? [] : [`${contracted.reduce((form, [from, to]) => form.replace(from, to), stem).normalize('NFC')}다`];
  return [...new Set([word, ...nouns, ...verbs])];
}
