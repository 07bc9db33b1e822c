/** What a question asks for, told by its question word, and what a sentence that responds then has. */
interface Kind {
  asks: RegExp;
  responds: RegExp;
}

const numberWords = `two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand half twice once daily weekly monthly
zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig hundert
tausend zweimal dreimal täglich deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-huit vingt trente
quarante cinquante soixante cent mille dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cuarenta cincuenta
sesenta cien ciento mil due tre quattro cinque sei sette otto nove dieci venti`.split(/\s+/);

const months = `jan feb mar apr may jun jul aug sep oct nov dec januar februar märz april mai juni juli august september oktober november
dezember janvier février mars avril juin juillet août septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto
septiembre octubre noviembre diciembre gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre`.split(/\s+/);

const days =
  `monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi
mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo`.split(/\s+/);

const number = `\\p{N}|[一二三四五六七八九十百千万]|(?<!\\p{L})(?:${numberWords.join('|')})(?!\\p{L})`;
const time = `${number}|(?<!\\p{L})(?:${[...months, ...days].join('|')})|(?:曜日|朝|夜|午前|午後|[월화수목금토일]요일|星期|周[一二三四五六日])`;

const kinds: Kind[] = [
  {
    asks: /(?<!\p{L})(?:when|what time|what date|which (?:day|year|month)|wann|welche[mrn]? (?:Tag|Jahr|Datum)|quand|quelle (?:heure|date)|cu[áa]ndo|qu[ée] (?:d[íi]a|hora|fecha)|quando|wanneer|n[äa]r|когда)(?!\p{L})|いつ|何時|何日|何曜日|什么时候|何时|几点|언제|몇 시|متى|מתי|πότε/iu,
    responds: new RegExp(time, 'iu'),
  },
  {
    asks: /(?<!\p{L})(?:how (?:many|much|long|often|far|high|deep|old|big|large|tall|fast)|wie ?(?:viele?|lange|oft|hoch|weit|tief|alt|gro[ßs]s?|teuer)|combien|cu[áa]nt[oa]s?|quant[oaie]|hoeveel|hur (?:m[åa]nga|mycket)|сколько)(?!\p{L})|いくつ|いくら|何(?:人|枚|年|月|回|個|名|度|日)|どのくらい|多少|几[个年天次]|얼마|몇|كم|כמה|πόσ/iu,
    responds: new RegExp(number, 'iu'),
  },
  {
    asks: /(?<!\p{L})(?:who|whose|whom|wer|wem|wen|wessen|qui|qui[ée]n(?:es)?|chi|quem|wie is|vem|кто|кого|кому)(?!\p{L})|誰|だれ|谁|누가|누구/iu,
    responds: /(?<=[\p{Ll},;] )\p{Lu}\p{Ll}|[\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}]/u,
  },
];

/** What in a sentence would respond to a question of its kind: a date, a number, a name; undefined if it asks for something else. */
export function respondsTo(question: string): RegExp | undefined {
  return kinds.find(({ asks }) => asks.test(question))?.responds;
}

/** Words that ask, which no sentence needs to have. In the form of `wordsOf`. */
export const askingWords: ReadonlySet<string> = new Set(
  `who what when where why which whose how many much long often far does did do can could should may must is are was were there tell me show
wer was wann wo warum wieso welche welcher welches welchen wie viele viel lange oft wem wen qui que quoi quand ou pourquoi comment combien
quel quelle quels quelles est ce quien que cuando donde por como cual cuanto cuantos cuanta cuantas chi che cosa quando dove perche come quale
quanto quem onde porque qual wie wat waar waarom hoe hoeveel vem vad nar var varfor hur кто что когда где почему как какой какая какие сколько
на в и по за к у о с из до ли τι ποιος ποτε που πως γιατι ποσο του της το η ο και`.split(/\s+/),
);
