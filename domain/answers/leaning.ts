import { languageOf } from '../../base/text/languages.ts';

/** Words that begin a sentence which refers to the one before it: twenty or so of each language. */
const leaning = new Map(
  Object.entries({
    en: `he she it they his her its their this that these those such him them both there then so therefore thus hence however
      also otherwise instead but and or yet nevertheless moreover furthermore in_addition`,
    de: `er sie es ihr ihre sein seine dieser diese dieses diesem diesen dies das dort dann daher deshalb deswegen dabei dazu
      damit darin jedoch auch aber und oder sonst außerdem andernfalls hierzu hierbei dafür`,
    fr: `il elle ils elles son sa ses leur leurs ce cet cette ces cela ceci celui celle alors donc ainsi cependant aussi mais et
      ou sinon toutefois`,
    es: `él ella ello ellos ellas su sus este esta esto estos estas ese esa eso aquel entonces así además también pero y o
      sin_embargo`,
    it: `lui lei esso essa essi loro suo sua suoi sue questo questa questi queste quello quella allora quindi perciò inoltre
      anche ma e`,
    pt: `ele ela eles elas seu sua seus suas isto isso esse essa esses essas então assim portanto também mas`,
    nl: `hij zij ze hun haar zijn deze dit die dat daar dan daarom dus echter ook maar en of`,
    ru: `он она оно они его её ее их этот эта это эти тот та те такой там тогда поэтому также однако но и а`,
    ro: `el ea ei ele acesta aceasta acestea aceștia său sa lor astfel deci totuși însă dar și`,
    tr: `o bu şu şunlar bunlar onlar onun onların böylece ayrıca ancak fakat ama ve`,
    el: `αυτός αυτή αυτό αυτοί αυτές αυτά έτσι όμως επίσης αλλά και`,
    ar: `هو هي هم هذا هذه ذلك تلك هؤلاء كما لكن ولكن ثم لذلك أيضا`,
    hi: `वह वे यह ये इस उस इन उन इसके उनके इसलिए लेकिन परंतु और`,
    vi: `nó họ ông bà đây đó điều_này vì_vậy tuy_nhiên nhưng và`,
  }).map(([language, words]) => [language, new Set(words.split(/\s+/).map((word) => word.replaceAll('_', ' ')))]),
);
/** The same in scripts without spaces. */
const leaningStart =
  /^(?:他|她|它|这|這|那|其|此|因此|所以|但|然而|而且|并且|彼|これ|それ|この|その|しかし|また|そして|เขา|มัน|นี้|นั้น|ดังนั้น|แต่|และ)/;

/**
 * Whether a sentence leans on the one before it, without which it is not shown. Both together tell the language: `die` leans in Dutch only.
 */
export function leansOnBefore(sentence: string, before: string): boolean {
  if (leaningStart.test(sentence)) return true;
  const [first = '', second = ''] = sentence.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? [];
  const languages = [...leaning].filter(([, words]) => words.has(first) || words.has(`${first} ${second}`));
  // To tell a language takes long beside looking a word up.
  if (languages.length === 0) return false;
  const language = languageOf(`${sentence} ${before}`);
  return languages.some(([one]) => one === language);
}
