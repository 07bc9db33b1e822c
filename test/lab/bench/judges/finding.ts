import { globSync, readFileSync } from 'node:fs';
import type { SearchMode } from '../../../../contract/document-search.ts';
import { termsOf } from '../../../../domain/search/terms.ts';
import { plainBm25 } from '../baselines/plain-bm25.ts';
import { type Figure, toFigure } from '../support/figure.ts';
import type { Judge } from '../support/judge.ts';
import { type SearchBench, startSearchBench } from '../support/search-bench.ts';

/** The mode that all surfaces of the project ask for, then the others. The API takes `semantic` if a request names none. */
const modes: [mode: SearchMode, name: string][] = [
  ['hybrid', 'hybrid'],
  ['lexical', 'lexical'],
  ['semantic', 'semantic, and none named'],
];
/** Postgres has no words of its own for the other languages. */
const postgresLanguages: Record<string, string> = {
  ...{ ar: 'arabic', de: 'german', el: 'greek', en: 'english', es: 'spanish', hi: 'hindi', ro: 'romanian', ru: 'russian', tr: 'turkish' },
};
export const languageNames = new Intl.DisplayNames('en', { type: 'language' });

export interface Language {
  code: string;
  /** The paragraphs, one a document. */
  texts: string[];
  /** Each with the place of its paragraph. */
  questions: { query: string; place: number }[];
}

/**
 * The share of questions of XQuAD whose own paragraph is the first hit, in each language and mode, beside plain BM25; and what Postgres' own
 * full-text search finds. Then the share of those that find it in English. A quick run asks every fourth question.
 */
export const finding: Judge = async (directory, { quick }) => {
  const bench = await startSearchBench();
  try {
    const figures: Figure[] = [];
    const languages = globSync(`${directory}/xquad.*.json`)
      .sort()
      .map((file) => readLanguage(file, quick ? 4 : 1));
    const start = performance.now();
    for (const language of languages) await fill(bench, language);
    const indexing = performance.now() - start;
    for (const language of languages) figures.push(...(await judge(bench, language)));
    figures.push(...(await judgeForeign(bench, languages)));
    return languages.length === 0 ? figures : [...figures, ...weighStems(languages, indexing)];
  } finally {
    await bench.stop();
  }
};

/** The paragraphs of a file of XQuAD, and every so many of its questions. */
export function readLanguage(file: string, every: number): Language {
  const { data } = JSON.parse(readFileSync(file, 'utf8')) as {
    data: { paragraphs: { context: string; qas: { question: string }[] }[] }[];
  };
  const paragraphs = data.flatMap((article) => article.paragraphs);
  const questions = paragraphs.flatMap(({ qas }, place) => qas.map(({ question }) => ({ query: question, place })));
  const code = /\.(\w+)\.json$/.exec(file)?.[1] ?? '';
  return { code, texts: paragraphs.map(({ context }) => context), questions: questions.filter((_, index) => index % every === 0) };
}

async function fill(bench: SearchBench, { code, texts }: Language): Promise<void> {
  await bench.fill(
    code,
    texts.map((text, place) => ({ name: `${place}.txt`, text })),
  );
}

async function judge(bench: SearchBench, language: Language): Promise<Figure[]> {
  const { code, texts } = language;
  const plain = plainBm25(texts.map((text, place) => ({ id: String(place), text })));
  const baseline = await shareFound(language, async (query) => Number(plain(query, 1)[0] ?? -1));
  const name = (what: string) => `finding, ${languageNames.of(code)}: ${what}`;
  const figures: Figure[] = [];
  for (const [mode, called] of modes) {
    const value = await shareFound(language, (query) => bench.firstHit(code, query, mode));
    const target = mode === 'hybrid' ? { atLeast: 0.9, ratio: { atLeast: 1 } } : {};
    figures.push(toFigure(name(called), { value, baseline, unit: '' }, target));
  }
  const value = await shareFound(language, await prepareFullText(bench, language));
  return [...figures, toFigure(name("Postgres' full text"), { value, baseline, unit: '' })];
}

/** The share of the same questions that find their paragraph in English, asked in each other language. */
async function judgeForeign(bench: SearchBench, languages: Language[]): Promise<Figure[]> {
  const english = languages.find(({ code }) => code === 'en');
  if (!english) return [];
  const plain = plainBm25(english.texts.map((text, place) => ({ id: String(place), text })));
  const figures: Figure[] = [];
  for (const language of languages.filter((one) => one !== english)) {
    const value = await shareFound(language, (query) => bench.firstHit('en', query, 'hybrid'));
    const baseline = await shareFound(language, async (query) => Number(plain(query, 1)[0] ?? -1));
    figures.push(toFigure(`finding, English asked in ${languageNames.of(language.code)}: hybrid`, { value, baseline, unit: '' }));
  }
  return figures;
}

/** What stems add beside words as they are written: to the postings, and the share of the milliseconds of `indexing` that making them takes. */
function weighStems(languages: Language[], indexing: number): Figure[] {
  const count = (languageOf: (language: Language) => string) => {
    const start = performance.now();
    let postings = 0;
    for (const language of languages) {
      for (const text of language.texts) postings += new Set(termsOf(text, languageOf(language))).size;
    }
    return { postings, time: performance.now() - start };
  };
  // No language has this code, so there are no stems. The first count warms up.
  const written = [0, 1].map(() => count(() => 'zxx')).at(-1) as ReturnType<typeof count>;
  const stemmed = count(({ code }) => code);
  const share = Math.max(0, stemmed.time - written.time) / indexing;
  return [
    toFigure('finding: postings with stems', { value: stemmed.postings, baseline: written.postings, unit: '' }, { ratio: { atMost: 1.4 } }),
    toFigure('finding: share of indexing that stems take', { value: share, unit: '' }, { atMost: 0.1 }),
  ];
}

/** The share of the questions for which `find` returns the place of their paragraph. */
async function shareFound({ questions }: Language, find: (query: string) => Promise<number | undefined>): Promise<number> {
  let found = 0;
  for (const { query, place } of questions) if ((await find(query)) === place) found += 1;
  return found / questions.length;
}

/** Postgres' own search: any of the words, the best by its rank, with its dictionary of the language. */
async function prepareFullText({ bare }: SearchBench, { code, texts }: Language): Promise<(query: string) => Promise<number | undefined>> {
  const dictionary = postgresLanguages[code] ?? 'simple';
  const table = `bench_${code}`;
  await bare.query(`create table ${table} (place int, words tsvector)`);
  await bare.query(
    `insert into ${table} select place - 1, to_tsvector('${dictionary}', text) from unnest($1::text[]) with ordinality as given (text, place)`,
    [texts],
  );
  // A query of Postgres' own parser asks for all of its words.
  const text = `with asked as (select replace(plainto_tsquery('${dictionary}', $1)::text, '&', '|')::tsquery as any_word)
    select place from ${table}, asked where words @@ any_word order by ts_rank(words, any_word) desc, place limit 1`;
  return async (query) => (await bare.query<{ place: number }>({ name: table, text, values: [query] })).rows[0]?.place;
}
