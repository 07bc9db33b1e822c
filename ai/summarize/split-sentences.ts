const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

// Longer than any word that decides. Without a bound, a long paragraph without a full stop would take quadratic time.
const tailLength = 80;
const maxBracketLength = 400;

// A name or a thing always follows these.
const titles = wordSet(`mr mrs ms mx dr prof st sr sra srta fr rev hon pres gov sen rep gen col maj capt cmdr lt sgt cpl messrs mme mlle
mons ing hr fa fra dipl lic sra dña ud uds e.g i.e cf viz vs resp approx ca bzw vgl z.b d.h u.a p.ex c.-à-d p.ej z n.b incl excl`);

// A number or a letter follows these.
const numbered = wordSet(`no nos nr núm n fig figs eq eqs sec sect ch chap vol vols art p pp pg par para app tab ex ver v rev ed op cap
jan feb mar apr jun jul aug sep sept oct nov dec janv févr juil okt dez`);

// These occur within a sentence as often as at its end: it ends only if a word follows that opens sentences.
const ambiguous = wordSet(
  'inc ltd co corp llc plc gmbh bros jr sr esq u.s u.k u.n e.u u.s.a a.m p.m a.d b.c ph.d m.d b.a m.a d.c dept univ est ave blvd rd al',
);

const germanMonths = /^(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jahrhundert)/u;

// Capitalized, these are far more often the first word of a sentence than part of a name.
const openers = wordSet(`the a an this that these those he she it we they i you his her its our their my your there here when while if
but and or so however although after before in on at by for from with as since because during once then thus not no one two
who what where why how all most some many each every both other another still yet until unless despite instead meanwhile finally
der die das ein eine es er sie wir ich und aber le la les un une il elle nous vous ce cette el los las una uno en y pero`);

/**
 * Splits a paragraph into sentences. Unicode's rules find the candidates, in every script; an abbreviation, an initial or a number
 * before one, or a lower-case letter after it, means that the sentence goes on.
 */
export function splitSentences(paragraph: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  let end = 0;
  let bracketStart: number | undefined;
  const close = () => {
    const sentence = paragraph.slice(start, end).trim();
    if (sentence !== '') sentences.push(sentence);
    start = end;
    bracketStart = undefined;
  };
  for (const { segment, index } of segmenter.segment(paragraph)) {
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
  if (joinsNext(lastWord, after)) return false;
  return canEndSentence(lastWord) || opensSentence(after);
}

/** Whether the word before a full stop certainly belongs to what follows, so that no sentence ends there. */
function joinsNext(lastWord: string, after: string): boolean {
  const stem = stemOf(lastWord);
  if (titles.has(stem)) return true;
  if (numbered.has(stem)) return /^[\p{N}#§(]|^[IVXLC]+\b|^[A-Z]\b/u.test(after);
  // Ordinals in German: "am 3. Oktober".
  if (/^\p{N}{1,2}$/u.test(stem)) return germanMonths.test(after);
  return false;
}

/** Whether a sentence may end with this word and its full stop, no matter which word follows. */
function canEndSentence(lastWord: string): boolean {
  const stem = stemOf(lastWord);
  const isInitial = /^\p{Lu}$/u.test(lastWord.replace(/^[^\p{L}\p{N}]+/u, '').replace(/(?<!\.)\.+$/, ''));
  const isAcronym = /^(?:\p{L}\.)+\p{L}$/u.test(stem);
  return !isInitial && !isAcronym && !ambiguous.has(stem);
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
