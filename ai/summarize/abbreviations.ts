// A name or a thing always follows these.
const titles = wordSet(`mr mrs ms mx dr prof st sr sra srta fr rev hon pres gov sen rep gen col maj capt cmdr lt sgt cpl messrs mme mlle
mons ing hr fa fra dipl lic sra dña ud uds e.g i.e cf viz vs resp approx ca bzw vgl z.b d.h u.a p.ex c.-à-d p.ej z n.b incl excl`);

// A number or a letter follows these.
const numbered = wordSet(`no nos nr núm n fig figs eq eqs sec sect ch chap vol vols art p pp pg par para app tab ex ver v rev ed op cap
jan feb mar apr jun jul aug sep sept oct nov dec janv févr juil okt dez`);

// These stand within a sentence as often as at its end: only a word that opens sentences makes it the end.
const ambiguous = wordSet(
  'inc ltd co corp llc plc gmbh bros jr sr esq u.s u.k u.n e.u u.s.a a.m p.m a.d b.c ph.d m.d b.a m.a d.c dept univ est ave blvd rd al',
);

const germanMonths = /^(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jahrhundert)/u;

// Capitalised, these are far more often the first word of a sentence than a part of a name.
const openers = wordSet(`the a an this that these those he she it we they i you his her its our their my your there here when while if
but and or so however although after before in on at by for from with as since because during once then thus not no one two
who what where why how all most some many each every both other another still yet until unless despite instead meanwhile finally
der die das ein eine es er sie wir ich und aber le la les un une il elle nous vous ce cette el los las una uno en y pero`);

/** Whether the word before a full stop certainly goes on with what follows, so that no sentence ends there. */
export function joinsNext(lastWord: string, after: string): boolean {
  const stem = stemOf(lastWord);
  if (titles.has(stem)) return true;
  if (numbered.has(stem)) return /^[\p{N}#§(]|^[IVXLC]+\b|^[A-Z]\b/u.test(after);
  // Ordinals in German: "am 3. Oktober".
  if (/^\p{N}{1,2}$/u.test(stem)) return germanMonths.test(after);
  return false;
}

/** Whether a sentence may end with this word and its full stop, whatever word follows. */
export function canEndSentence(lastWord: string): boolean {
  const stem = stemOf(lastWord);
  const isInitial = /^\p{Lu}$/u.test(lastWord.replace(/^[^\p{L}\p{N}]+/u, '').replace(/\.+$/, ''));
  const isAcronym = /^(?:\p{L}\.)+\p{L}$/u.test(stem);
  return !isInitial && !isAcronym && !ambiguous.has(stem);
}

/** Whether the text starts with a word that usually opens a sentence. */
export function opensSentence(after: string): boolean {
  const first = /^[^\p{L}\p{N}]*([\p{L}']+)/u.exec(after)?.[1] ?? '';
  return openers.has(first.toLowerCase());
}

function stemOf(word: string): string {
  return word
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .replace(/\.+$/, '')
    .toLowerCase();
}

function wordSet(words: string): Set<string> {
  return new Set(words.split(/\s+/));
}
