import { countCharacters, forward } from '../characters.ts';
import { pageAt } from '../chunking/cut-chunks.ts';
import { pathAt } from '../chunking/heading-paths.ts';
import type { Answer, AnswerSentence, Picked } from './answer.ts';
import { readable, type Unit } from './cut-units.ts';
import { isRecognized, type Passage } from './read-passages.ts';
import { contextOf, firstShown } from './unit-context.ts';

/** An answer before it is charged for. */
export type Made = Omit<Answer, 'id' | 'organizationId' | 'credits'>;

/** A unit of a passage. */
interface Place {
  passage: Passage;
  index: number;
}

/** The own units of all passages, in the order in which the AI service numbers them, from 1. */
function placesOf(passages: Passage[]): Place[] {
  return passages.flatMap((passage) => passage.own.map((index) => ({ passage, index })));
}

/** How much of a unit, and of its context, the AI service compares, in characters. */
const [maxLength, maxContext] = [8_000, 1_000];

/** A passage as the AI service compares it: rows with the heads of their cells, and each unit with its context. */
export function toUnits({ documentName, page, headings, outline, similarity, text, units, starts, own }: Passage) {
  const clip = (long: string, length: number) => long.slice(0, forward(long, 0, length));
  return {
    ...{ title: documentName, page, heading: headings.at(-1) ?? null, similarity },
    units: own.map((index) => {
      const unit = units[index] as Unit;
      const { lead, parents, before } = contextOf(text, units, index);
      const paths = pathAt(outline.headings, starts[index] ?? 0);
      const leaning = firstShown(text, units, index) < index ? before : null;
      const around = [...paths, lead, ...parents, leaning].filter((line) => line !== null).map((line) => clip(line, maxContext));
      return {
        text: clip(readable(text, unit), maxLength),
        context: clip(around.join('\n'), maxContext),
        heading: unit.kind === 'heading' || isLead(text, units, index),
      };
    }),
  };
}

/** Whether a unit is only the line before a list or table: `Bring these things:`. */
function isLead(text: string, units: Unit[], index: number): boolean {
  return /[:：]\s*$/u.test(text.slice(units[index]?.start, units[index]?.end)) && ['item', 'row'].includes(units[index + 1]?.kind ?? '');
}

/**
 * Makes an answer of the units that were picked, by their numbers: no word of it is from anywhere else. Skips unknown and repeated numbers.
 * Joins two neighbours, and a unit with the one that it leans on. What several documents say in the same place is one sentence, with a
 * citation for each. A `draft` is shown only beside units.
 */
export function toAnswer({ answer, draft, extractive, model }: Picked, passages: Passage[], maxSentences: number): Made {
  const places = placesOf(passages);
  const shown = new Set<string>();
  const sentences: AnswerSentence[] = [];
  for (const { units: numbers, mark } of answer) {
    for (const [first, last] of runsOf(numbers.slice(0, 2).flatMap((number) => places[number - 1] ?? []))) {
      const { passage } = first;
      const from = firstShown(passage.text, passage.units, first.index);
      const fresh = Array.from({ length: last.index - from + 1 }, (_, offset) => from + offset).filter((index) => {
        const key = `${passage.documentId} ${passage.starts[index]}`;
        return !shown.has(key) && shown.add(key);
      });
      if (!fresh.includes(last.index)) continue;
      const sentence = toSentence(passage, fresh[0] ?? from, last.index, mark);
      const same = sentences.find((each) => isSame(each, sentence));
      if (same) same.citations.push(...sentence.citations);
      else if (sentences.length < maxSentences) sentences.push(sentence);
    }
  }
  const nothingFound = sentences.length === 0;
  return {
    sentences,
    draft: nothingFound || !draft ? null : { text: draft, checked: false },
    withheld: 0,
    nothingFound,
    extractive,
    model,
  };
}

/** The answer if no passage was found. */
export const nothing: Made = { sentences: [], draft: null, withheld: 0, nothingFound: true, extractive: true, model: null };

/** Two neighbours are shown as one, others by themselves. */
function runsOf([one, other]: Place[]): [Place, Place][] {
  if (!one) return [];
  if (!other) return [[one, one]];
  if (one.passage === other.passage && one.index + 1 === other.index) return [[one, other]];
  return [
    [one, one],
    [other, other],
  ];
}

/** Whether two sentences read the same, with what is shown around them: a row of one table is not that of another with other heads. */
function isSame(one: AnswerSentence, other: AnswerSentence): boolean {
  const [context, otherContext] = [one, other].map(({ citations }) => JSON.stringify(citations[0]?.context));
  return one.text === other.text && context === otherContext;
}

function toSentence(passage: Passage, first: number, last: number, mark: string | null): AnswerSentence {
  const { documentId, documentName, version, outline, units, starts } = passage;
  const text = passage.text.slice(units[first]?.start, units[last]?.end);
  const start = starts[first] ?? 0;
  const end = passage.textStart + countCharacters(passage.text.slice(0, units[last]?.end ?? 0));
  const citation = {
    ...{ documentId, documentName, page: pageAt(outline, start), headings: pathAt(outline.headings, start), start, end },
    ...{ quote: text, exact: true, recognized: isRecognized(passage, start, end) },
    context: contextOf(passage.text, units, first, last),
    version,
  };
  return { text, mark: mark !== null && mark !== '' && text.includes(mark) ? mark : null, citations: [citation] };
}
