const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

// Longer than any word that decides. Without a bound, a long paragraph without a full stop would take quadratic time.
const tailLength = 80;
const maxBracketLength = 400;

// A name or a thing always follows these.
const titles = wordSet(`v mr mrs ms mx dr prof st sr sra srta fr rev hon pres gov sen rep gen col maj capt cmdr lt sgt cpl messrs mme mlle
mons ing hr fa fra dipl lic sra dña ud uds e.g i.e cf viz vs resp approx ca bzw vgl z.b d.h u.a p.ex c.-à-d p.ej z n.b incl excl`);

// A number or a letter follows these.
const numbered = wordSet(`no nos nr núm n fig figs eq eqs sec sect ch chap vol vols art p pp pg par para app tab ex ver rev ed op cap
ziff abs abschn bd kap anm rn rdnr rz tz lit buchst s čl odst ust ст п гл рис стр
jan feb mar apr jun jul aug sep sept oct nov dec janv févr juil okt dez`);

// These occur within a sentence as often as at its end: it ends only if a word follows that opens sentences.
const ambiguous = wordSet(
  'inc ltd co corp llc plc gmbh bros jr sr esq u.s u.k u.n e.u u.s.a a.m p.m a.d b.c ph.d m.d b.a m.a d.c dept univ est ave blvd rd al',
);

const germanMonths = /^(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jahrhundert)/u;

// After these a number with a full stop is an ordinal, and the word that it counts follows: "das 14. Lebensjahr", "am 3. Werktag".
const beforeOrdinals = wordSet(`der das dem den des am im zum zur vom beim bis ab seit nach vor jeder jedes jeden jedem ein einen eine einem
einer eines ihr sein dessen deren und oder den det dei dne od do po na v za az és a`);

// Capitalized, these are far more often the first word of a sentence than part of a name.
const openers = wordSet(`the a an this that these those he she it we they i you his her its our their my your there here when while if
but and or so however although after before in on at by for from with as since because during once then thus not no one two
who what where why how all most some many each every both other another still yet until unless despite instead meanwhile finally
der die das ein eine es er sie wir ich und aber le la les un une il elle nous vous ce cette el los las una uno en y pero`);

/** The sentences of a paragraph, as it has them but for white space around them. */
export function splitSentences(paragraph: string): string[] {
  return findSentences(paragraph).map(({ start, end }) => paragraph.slice(start, end));
}

/**
 * Finds the sentences of a paragraph, without white space around them. Unicode's rules find the candidates, in every script; an
 * abbreviation, an initial or a number before one, or a lower-case letter after it, means that the sentence goes on. A line break is a space.
 */
export function findSentences(paragraph: string): { start: number; end: number }[] {
  const sentences: { start: number; end: number }[] = [];
  let start = 0;
  let end = 0;
  let bracketStart: number | undefined;
  const close = () => {
    const sentence = paragraph.slice(start, end);
    const first = start + sentence.search(/\S/);
    if (first >= start) sentences.push({ start: first, end: start + sentence.trimEnd().length });
    start = end;
    bracketStart = undefined;
  };
  for (const { segment, index } of segmenter.segment(paragraph.replace(/[\n\r\u0085\u2028\u2029]/g, ' '))) {
    const inBracket = bracketStart !== undefined && index - bracketStart < maxBracketLength;
    if (index > start && !inBracket && endsBefore(paragraph.slice(Math.max(start, index - tailLength), index), segment)) close();
    end = index + segment.length;
    bracketStart = openBracket(segment, index, bracketStart);
  }
  close();
  return sentences;
}

/** The index of the bracket that is still open after a segment: a mark inside of it does not end the sentence around it. */
function openBracket(segment: string, index: number, before: number | undefined): number | undefined {
  const opens = segment.lastIndexOf('(');
  const closes = segment.lastIndexOf(')');
  if (opens > closes) return index + opens;
  return closes >= 0 ? undefined : before;
}

/** Whether a sentence ends between two segments. */
function endsBefore(current: string, next: string): boolean {
  const before = current.trimEnd();
  const after = next.trimStart();
  if (after === '') return false;
  // Closing quotes and brackets belong to the sentence before.
  if (/^[)\]}»”’"']+(?:\s|$)/u.test(after)) return false;
  if (/^\p{Ll}/u.test(after)) return false;
  // In Japanese a quotation with its own full stop is part of the sentence that reports it.
  if (/[」』]$/u.test(before) && /^(?:と|って)/u.test(after)) return false;
  const lastWord = /(?<!\S)\S+$/u.exec(before)?.[0] ?? '';
  if (!lastWord.endsWith('.')) return true;
  // What is only a number is that of a paragraph or an item.
  if (before === lastWord && isNumeral(stemOf(lastWord))) return false;
  if (joinsNext(before, lastWord, after)) return false;
  return canEndSentence(lastWord) || opensSentence(after);
}

/** Whether the word before a full stop certainly belongs to what follows, so that no sentence ends there. */
function joinsNext(before: string, lastWord: string, after: string): boolean {
  const stem = stemOf(lastWord);
  if (titles.has(stem)) return true;
  if (numbered.has(stem)) return /^[\p{N}#§(]|^[IVXLC]+\b|^[A-Z]\b|^[A-Z]{1,8}[-/]?\d/u.test(after);
  if (/^\p{N}{1,3}$/u.test(stem)) return !opensSentence(after) && (germanMonths.test(after) || followsArticle(before, lastWord));
  return false;
}

/** Whether the word before the last one is an article or the like, after which a number counts what follows. */
function followsArticle(before: string, lastWord: string): boolean {
  const [word = ''] = /(?<!\S)\S+$/u.exec(before.slice(0, -lastWord.length).trimEnd()) ?? [];
  return beforeOrdinals.has(stemOf(word));
}

/** `4`, `VIII`. */
function isNumeral(stem: string): boolean {
  return /^(?:\p{N}{1,3}(?:\.\p{N}{1,3})*|[ivxlcdm]{1,8}|\p{L})$/u.test(stem);
}

/** Whether a sentence may end with this word and its full stop, no matter which word follows. */
function canEndSentence(lastWord: string): boolean {
  const stem = stemOf(lastWord);
  const isInitial = /^\p{Lu}$/u.test(lastWord.replace(/^[^\p{L}\p{N}]+/u, '').replace(/(?<!\.)\.+$/, ''));
  const isAcronym = /^(?:\p{L}\.)+\p{L}$/u.test(stem);
  const isRoman = /^[IVXLC]{2,}\.$/.test(lastWord);
  return !isInitial && !isAcronym && !isRoman && !ambiguous.has(stem);
}

/** Whether the text starts with a word that usually opens a sentence. */
function opensSentence(after: string): boolean {
  const first = /^[^\p{L}\p{N}]*([\p{L}']+)/u.exec(after)?.[1] ?? '';
  return openers.has(first.toLowerCase());
}

function stemOf(word: string): string {
  return word
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .replace(/(?<!\.)\.+$/, '')
    .toLowerCase();
}

function wordSet(words: string): Set<string> {
  return new Set(words.split(/\s+/));
}
