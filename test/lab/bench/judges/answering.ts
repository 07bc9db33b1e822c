import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainBm25 } from '../baselines/plain-bm25.ts';
import { type Figure, toFigure } from '../support/figure.ts';
import type { Judge } from '../support/judge.ts';
import { type BenchDocument, type SearchBench, startSearchBench } from '../support/search-bench.ts';
import { languageNames, readLanguage } from './finding.ts';

/** A question, with the place of the document that answers it; undefined if none does. */
interface Asked {
  query: string;
  place: number | undefined;
}

/**
 * How often an answer without a model begins with the right document, and how often there rightly is none, by CLAP-NQ in English and XQuAD in
 * each of its languages; and both in another language than the documents. The baseline answers each question by the first passage that
 * plain BM25 finds. A quick run asks every fourth question.
 */
export const answering: Judge = async (directory, { quick }) => {
  const every = quick ? 4 : 1;
  const bench = await startSearchBench();
  try {
    const figures: Figure[] = [];
    if (existsSync(join(directory, 'clapnq'))) figures.push(...(await judgeClapNq(bench, join(directory, 'clapnq'), every)));
    const files = globSync(join(directory, 'xquad', 'xquad.*.json')).sort();
    for (const file of files) figures.push(...(await judgeXquad(bench, file, every)));
    return [...figures, ...(await judgeForeign(bench, files))];
  } finally {
    await bench.stop();
  }
};

interface ClapNqLine {
  input: string;
  passages: { title: string; text: string }[];
}

async function judgeClapNq(bench: SearchBench, directory: string, every: number): Promise<Figure[]> {
  const [answerable, unanswerable] = ['answerable', 'unanswerable'].map((name) => readLines(join(directory, `${name}.jsonl`)));
  const documents: BenchDocument[] = [];
  const ask = (lines: ClapNqLine[] = [], isAnswered: boolean): Asked[] =>
    lines.map(({ input, passages: [passage] }) => {
      documents.push({ name: passage?.title ?? '', text: passage?.text ?? '' });
      return { query: input, place: isAnswered ? documents.length - 1 : undefined };
    });
  const kinds: [name: string, asked: Asked[]][] = [
    ['answerable', ask(answerable, true)],
    ['unanswerable', ask(unanswerable, false)],
  ];
  await bench.fill('clapnq', documents);
  const plain = plainBm25(documents.map(({ text }, place) => ({ id: String(place), text })));
  const counts: { name: string; right: number; baseline: number; of: number }[] = [];
  for (const [name, all] of kinds) {
    const asked = all.filter((_, index) => index % every === 0);
    const right = await countRight(asked, (query) => bench.firstCited('clapnq', query));
    const baseline = await countRight(asked, async (query) => firstOf(plain(query, 1)));
    counts.push({ name, right, baseline, of: asked.length });
  }
  const sum = (of: (count: (typeof counts)[number]) => number) => counts.reduce((total, count) => total + of(count), 0);
  const whole = { name: 'all', right: sum(({ right }) => right), baseline: sum(({ baseline }) => baseline), of: sum(({ of }) => of) };
  return [whole, ...counts].map(({ name, right, baseline, of }) =>
    toFigure(
      `answering, CLAP-NQ: ${name}`,
      { value: right / of, baseline: baseline / of, unit: '' },
      name === 'all' ? { atLeast: 0.75 } : {},
    ),
  );
}

/** The questions in the language of the paragraphs: with all of them, and those whose paragraph is absent with every second one. */
async function judgeXquad(bench: SearchBench, file: string, every: number): Promise<Figure[]> {
  const { code, texts, questions } = readLanguage(file, every);
  const documents = toDocuments(texts);
  const name = languageNames.of(code);
  await bench.fill(`answers-${code}`, documents);
  const plain = plainBm25(documents.map(({ text }, place) => ({ id: String(place), text })));
  const value = await shareRight(questions, (query) => bench.firstCited(`answers-${code}`, query));
  const baseline = await shareRight(questions, async (query) => firstOf(plain(query, 1)));
  await bench.fill(
    `some-${code}`,
    documents.filter((_, place) => isThere(place)),
  );
  const absent = questions.filter(({ place }) => !isThere(place)).map(({ query }) => ({ query, place: undefined }));
  const none = await shareRight(absent, (query) => bench.firstCited(`some-${code}`, query));
  return [
    toFigure(`answering, XQuAD, ${name}`, { value, baseline, unit: '' }, { atLeast: 0.8 }),
    toFigure(`answering, XQuAD, ${name}: rightly not`, { value: none, unit: '' }),
  ];
}

/** Every fourth question, in other languages, to every second English paragraph. */
async function judgeForeign(bench: SearchBench, files: string[]): Promise<Figure[]> {
  const languages = files.map((file) => readLanguage(file, 4));
  const english = languages.find(({ code }) => code === 'en');
  if (!english) return [];
  await bench.fill(
    'answers-foreign',
    toDocuments(english.texts).filter((_, place) => isThere(place)),
  );
  const figures: Figure[] = [];
  for (const { code, questions } of languages.filter((one) => one !== english)) {
    const asked = questions.map(({ query, place }) => ({ query, place: isThere(place) ? place / 2 : undefined }));
    for (const [what, some] of [
      ['by the right paragraph', asked.filter(({ place }) => place !== undefined)],
      ['rightly not', asked.filter(({ place }) => place === undefined)],
    ] as const) {
      const value = await shareRight(some, (query) => bench.firstCited('answers-foreign', query));
      figures.push(toFigure(`answering, English asked in ${languageNames.of(code)}: ${what}`, { value, unit: '' }));
    }
  }
  return figures;
}

/** Every second paragraph is left out, so that some questions have no answer. */
function isThere(place: number): boolean {
  return place % 2 === 0;
}

function toDocuments(texts: string[]): BenchDocument[] {
  return texts.map((text, place) => ({ name: `${place}.txt`, text }));
}

async function shareRight(asked: Asked[], answer: (query: string) => Promise<number | undefined>): Promise<number> {
  return (await countRight(asked, answer)) / asked.length;
}

async function countRight(asked: Asked[], answer: (query: string) => Promise<number | undefined>): Promise<number> {
  let right = 0;
  for (const { query, place } of asked) if ((await answer(query)) === place) right += 1;
  return right;
}

function firstOf([id]: string[]): number | undefined {
  return id === undefined ? undefined : Number(id);
}

function readLines(file: string): ClapNqLine[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}
