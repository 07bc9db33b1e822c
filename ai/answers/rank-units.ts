import { lower, spellOut } from '../../base/text/fold.ts';
import { notationsOf } from '../../base/text/identifiers.ts';
import { isKorean, koreanFormsOf, koreanWordsOf } from '../../base/text/korean.ts';
import { certainLanguageOf, languageOf, languageOfQuery, languagesOf } from '../../base/text/languages.ts';
import { pairedRun, pairsOf } from '../../base/text/scripts.ts';
import { stemOf } from '../../base/text/stems.ts';
import { stopWordsOf } from '../../base/text/stop-words.ts';
import { wordsOf } from '../../base/text/words.ts';
import { localE5 } from '../embedding/e5/name.ts';
import { nearnessInCjk } from '../embedding/e5/nearness-in-cjk.ts';
import type { ForeignUnit, Passage, Pick, Question, Unit } from './answer.ts';
import { tellingOf } from './common-words.ts';

/** The weight of a word that is not in a unit, but in its context, elsewhere in its passage, or in the document's name. */
const contextWeight = 0.5;
/** The share of the question's content words that a unit needs to be an answer: by itself, or picked by a model. */
const least = { alone: 0.5, picked: 0.25 };
/**
 * Where the local sentence model has compared the passage with the question: the cosine similarity that is enough for a unit without one of
 * the content words, and how much less is enough with all of them (CLAP-NQ and XQuAD, `docs/quality.md`).
 */
const similar = { alone: 0.93, lessWithWords: 0.2 };
/** How many passages in another language than the question are embedded, and how many units: each takes some 30 ms. */
const maxForeign = { passages: 3, units: 60 };
/** The share of the best unit's score that a further one needs. Without it each row of a table answers what one of them does. */
const leastOfBest = 0.5;
/** Distances are divided by the nearest, which is 0 of a passage that is the question itself. */
const leastDistance = 1e-3;

/** A unit by its number, with shares of the question's content words. */
interface Ranked {
  number: number;
  unit: Unit;
  /** Its own words, and by half those of its context and those elsewhere. A word that few units have tells more. */
  score: number;
  /** Its own words, and those of its context. */
  near: number;
  /** As `near`, and by half the words elsewhere in its passage, or in the document's name. */
  share: number;
  /** Cosine similarity of its passage by the local sentence model; null by another, of whose numbers nothing is known. */
  similarity: number | null;
  /** The similarity that is enough if it has none of the content words. */
  enough: number;
  /** Whether its passage is in a language that the question is not in. */
  foreign: boolean;
}

/**
 * Picks the units with most of the question's content words, at least one in the unit or its context, in the nearest passages. Empty if
 * none has enough of them. Deterministic.
 */
export function answerQuestion(question: Question): Pick[] {
  const answers = rankUnits(question).filter((ranked) => !ranked.unit.heading && ranked.near > 0 && responds(ranked));
  const nearest = Math.min(...answers.map(distanceOf));
  const worthOf = (ranked: Ranked) => ranked.score - distanceOf(ranked) / nearest;
  const best = answers.sort((one, other) => worthOf(other) - worthOf(one) || one.number - other.number);
  const enough = leastOfBest * (best[0]?.score ?? 0);
  return best
    .slice(0, question.maxSentences)
    .filter(({ score }) => score >= enough)
    .map(({ number }) => ({ units: [number], mark: null }));
}

function responds({ share, similarity, enough }: Ranked): boolean {
  return similarity === null ? share >= least.alone : similarity >= enough - similar.lessWithWords * share;
}

/** How far the passage of a unit is from the question; all are equally far if only words were compared. */
function distanceOf({ similarity }: Ranked): number {
  return similarity === null ? 1 : Math.max(leastDistance, 1 - similarity);
}

/** The units of the nearest passages in another language than the question, of which the local sentence model may choose: words cannot. */
export function findForeign(question: Question): ForeignUnit[] {
  const compared = rankUnits(question).filter(({ foreign, similarity }) => foreign && similarity !== null);
  const nearest = [...new Set(compared.map(distanceOf))].sort((one, other) => one - other).slice(0, maxForeign.passages);
  const units = compared.filter((ranked) => nearest.includes(distanceOf(ranked)) && !ranked.unit.heading);
  return units.slice(0, maxForeign.units).map(({ number, unit }) => ({ number, text: unit.text }));
}

/** Leaves out what a model picked that has too few of the question's content words, unless it is in another language. */
export function keepNear(question: Question, picks: Pick[]): Pick[] {
  const kept = new Set(rankUnits(question).flatMap(({ number, near, foreign }) => (near >= least.picked || foreign ? [number] : [])));
  return picks.map(({ units, mark }) => ({ units: units.filter((unit) => kept.has(unit)), mark })).filter(({ units }) => units.length > 0);
}

function rankUnits({ question, before, passages, embedModel }: Question): Ranked[] {
  const read = readPassages(passages);
  const asked = before === null ? question : `${before} ${question}`;
  const { words, language } = contentWordsOf(asked, read[0]?.language);
  const parts = notationsOf(asked).map(({ run, term }) => ({ words: new Set(wordsOf(run)), term }));
  const others = words.map((word) => parts.flatMap((part) => (part.words.has(word) ? [part.term] : [])));
  const matched = read.map((passage) => matchWords(words, others, passage));
  const all = matched.flatMap(({ units }) => units);
  const weights = words.map((word) => tellingOf(word, language));
  const rare = weights.map((weight, word) => weight * Math.log(1 + all.length / (1 + all.filter(({ own }) => own[word]).length)));
  const isKnown = embedModel === localE5.model;
  return matched.flatMap(({ elsewhere, units }, passage) => {
    const similarity = isKnown ? (passages[passage]?.similarity ?? null) : null;
    const foreign = isForeign(asked, passages[passage]);
    return units.map(({ number, unit, own, around }) => ({
      ...{ number, unit, similarity, foreign, enough: similar.alone + nearnessInCjk(asked, unit.text) },
      score:
        shareOf(rare, (word) => (own[word] ? 1 : around[word] ? contextWeight : 0)) +
        shareOf(rare, (word) => (elsewhere[word] ? contextWeight : 0)),
      near: shareOf(weights, (word) => (own[word] || around[word] ? 1 : 0)),
      share: shareOf(weights, (word) => (own[word] || around[word] ? 1 : elsewhere[word] ? contextWeight : 0)),
    }));
  });
}

/** The share of the weights that words have. */
function shareOf(weights: number[], has: (word: number) => number): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.reduce((sum, weight, word) => sum + has(word) * weight, 0) / total;
}

interface ReadPassage {
  language: string | undefined;
  title: ReadonlySet<string>;
  /** The stems of all units, and what stands for numbers and identifiers in any notation. */
  stems: ReadonlySet<string>;
  units: { number: number; unit: Unit; stems: ReadonlySet<string>; around: ReadonlySet<string> }[];
}

function readPassages(passages: Passage[]): ReadPassage[] {
  let number = 0;
  return passages.map(({ title, units }) => {
    const language = languageOf(units.map(({ text }) => text).join(' '));
    const stemsOf = (text: string) =>
      new Set([...allWordsOf(text), ...notationsOf(text).map(({ term }) => term)].flatMap((word) => formsOf(word, language)));
    const read = units.map((unit) => ({ number: ++number, unit, stems: stemsOf(unit.text), around: stemsOf(unit.context) }));
    return { language, title: stemsOf(title), stems: new Set(read.flatMap(({ stems }) => [...stems])), units: read };
  });
}

/**
 * Whether a passage is certainly in another language than the question. The language of a few names is often mistaken: then the question
 * has more stop words of the passage's language, like `the` and `of`.
 */
function isForeign(question: string, passage: Passage | undefined): boolean {
  const asked = languageOfQuery(question);
  const written = certainLanguageOf(passage?.units.map(({ text }) => text).join(' ') ?? '');
  if (asked === undefined || written === undefined || asked === written) return false;
  const words = wordsOf(question);
  const [own, other] = [asked, written].map((language) => words.filter((word) => stopWordsOf(language).has(word)).length);
  return (own ?? 0) >= (other ?? 0);
}

/** The words of a question that mean something, each once; all if none does. `near`: the language of what was found for it. */
function contentWordsOf(question: string, near: string | undefined): { words: string[]; language: string | undefined } {
  const languages = languagesOf(question);
  const language = near !== undefined && languages.includes(near) ? near : languages[0];
  const stopWords = stopWordsOf(language);
  const words = [...new Set(dividedWordsOf(question))];
  const isStopWord = (word: string) => (isKorean(word) ? koreanFormsOf(word) : [word]).some((form) => stopWords.has(form));
  const kept = words.filter((word) => !isStopWord(word));
  return { words: kept.length > 0 ? kept : words, language };
}

/** The words of a text: Korean ones whole, as their particles and endings are told only from there. */
function allWordsOf(text: string): string[] {
  return [...wordsOf(text).filter((word) => !isKorean(word)), ...koreanWordsOf(lower(text))];
}

/** The stem of a word, and of how it is spelled otherwise; of a Korean one all that it may be. */
function formsOf(word: string, language: string | undefined): string[] {
  return isKorean(word) ? koreanFormsOf(word) : [...new Set([word, spellOut(word)])].map((spelling) => stemOf(spelling, language));
}

const dictionary = new Intl.Segmenter('zh', { granularity: 'word' });

/** The words of a question, Chinese and Japanese ones by a dictionary: pairs of characters across the border of two words mean nothing. */
function dividedWordsOf(question: string): string[] {
  const runs = lower(question).match(pairedRun) ?? [];
  const pairs = new Set(runs.flatMap(pairsOf));
  const paired = runs.flatMap((run) => [...dictionary.segment(run)].map(({ segment }) => segment));
  // Of Japanese, Hiragana are endings and particles.
  const named = paired.filter((word) => !/^\p{Script=Hiragana}+$/u.test(word));
  return [...named, ...wordsOf(question).filter((word) => !pairs.has(word))];
}

/** Whether a text has a Chinese or Japanese word, by its stems, which are pairs of characters. */
function hasPaired(word: string, stems: ReadonlySet<string>): boolean {
  return word.length === 1 ? [...stems].some((stem) => stem.includes(word)) : pairsOf(word).every((pair) => stems.has(pair));
}

/** Which of the words a passage has: anywhere, in each unit, and in its context. `others`: the terms of each word in other notations. */
function matchWords(words: string[], others: string[][], { language, title, stems, units }: ReadPassage) {
  const terms = words.map((word) => formsOf(word, language));
  const otherTerms = others.map((some) => some.flatMap((term) => formsOf(term, language)));
  const isPaired = words.map((word) => /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word));
  const likes = terms.map((forms) => [...stems].filter((stem) => forms.some((form) => isLike(form, stem))));
  const has = (some: ReadonlySet<string>) =>
    terms.map(
      (forms, index) =>
        forms.some((form) => some.has(form) || (isPaired[index] && hasPaired(form, some))) ||
        (otherTerms[index] ?? []).some((term) => some.has(term)) ||
        (likes[index] ?? []).some((like) => some.has(like)),
    );
  return {
    elsewhere: has(stems.union(title)),
    units: units.map(({ number, unit, stems: own, around }) => ({ number, unit, own: has(own), around: has(around) })),
  };
}

const shortest = 5;
const shortestKorean = 2;

/** Whether a word begins or ends with another: parts of a compound, or an ending that no stemmer knows. */
function isLike(term: string, stem: string): boolean {
  const [short, long] = term.length < stem.length ? [term, stem] : [stem, term];
  if (isKorean(short)) return short.length >= shortestKorean && long.startsWith(short);
  return short.length >= shortest && (long.startsWith(short) || long.endsWith(short));
}
