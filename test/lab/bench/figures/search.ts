import pg from 'pg';
import { aiOf, prepareChunks } from '../support/chunks.ts';
import { type Figure, type Measure, type Target, toFigure } from '../support/figure.ts';
import { alternate, medianMs, percentile } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';

/** Without pgvector: the sizes and what a search may take, its HTTP request and the embedding of the query included. */
const sizes: Array<[chunks: number, target: Target]> = [
  [1_000, { atMost: 25 }],
  [100_000, { atMost: 200 }],
];
const withPgvector: Target = { ratio: { atMost: 1.5 } };
const query = 'how are the mirrors of the telescope cleaned';
/** Some with words that many of the texts have, which are descriptions of packages. What 95 of 100 searches take is measured with them. */
const questions = [
  query,
  'how do I install the package with npm',
  'which options does the parser take',
  'what is thrown if the stream was closed',
  'MIT license',
];
const withinMs: Target = { atMost: 50 };

/**
 * A search in workspaces of two sizes, by meaning, by words and by both. Its baseline embeds the query, too, and then
 * has a bare client of Postgres scan the same workspace: with pgvector's operator and nothing else, or, if the database has no pgvector,
 * reading the bytes that a search reads without looking at them. The baseline of a search by words is Postgres' own full-text search, and
 * that of both is one after the other.
 */
export const search: Measure = async (service, { quick, rounds }) => {
  const ai = aiOf(service);
  const { model, vectors } = await ai.embed({ texts: [query] });
  const vector = vectors[0] ?? [];
  const seed = await prepareChunks(service, ai);
  const bare = new pg.Client({ connectionString: service.stack.databaseUrl });
  await bare.connect();
  try {
    const figures: Figure[] = [];
    for (const [size, target] of quick ? sizes.slice(0, 1) : sizes) {
      const workspaceId = await seed(size, `search-${size}`);
      const scan = await prepareScan(bare, workspaceId, model, vector);
      const times = size > 10_000 ? 5 : 12;
      const measured = await alternate(
        rounds(3),
        () => medianMs(times, () => service.call('POST', `/api/v1/workspaces/${workspaceId}/documents/search`, { query })),
        () =>
          medianMs(times, async () => {
            await ai.embed({ texts: [query] });
            await scan.run();
          }),
      );
      const name = `search, ${size.toLocaleString('en')} chunks, beside ${scan.name}`;
      figures.push(toFigure(name, { ...measured, unit: 'ms' }, scan.pgvector ? withPgvector : target));
      const content = `${size.toLocaleString('en')} chunks`;
      figures.push(...(await byWords(service, { workspaceId, content, times, scan, fullText: await prepareFullText(bare, workspaceId) })));
    }
    return figures;
  } finally {
    await bare.end();
  }
};

interface Workspace {
  workspaceId: string;
  /** What the workspace holds, for the names of figures. */
  content: string;
  times: number;
  scan: Scan;
  /** Finds the ten best chunks for a question. */
  fullText: (question: string) => Promise<unknown>;
}

/** What 95 of 100 searches by words, and by words and meaning, stay below. */
async function byWords(service: Service, { workspaceId, content, times, scan, fullText }: Workspace): Promise<Figure[]> {
  const ai = aiOf(service);
  const path = `/api/v1/workspaces/${workspaceId}/documents/search`;
  const bothBarely = async (question: string) => {
    await ai.embed({ texts: [question] });
    await scan.run();
    await fullText(question);
  };
  const figures: Figure[] = [];
  for (const [mode, barely] of [['lexical', fullText] as const, ['hybrid', bothBarely] as const]) {
    const measured = await alternate(
      3,
      () => p95Ms(8 * times, (question) => service.call('POST', path, { query: question, mode })),
      () => p95Ms(8 * times, barely),
    );
    figures.push(toFigure(`search, ${content}, ${mode}: p95`, { ...measured, unit: 'ms' }, withinMs));
  }
  return figures;
}

/** The time that 95 of 100 runs stay below, with the questions in turn. */
async function p95Ms(runs: number, ask: (question: string) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    const started = performance.now();
    await ask(questions[run % questions.length] ?? query);
    times.push(performance.now() - started);
  }
  return percentile(times, 95);
}

/** Postgres' own full-text search of a table that has nothing but the chunks of the workspace: any of the words, the best ten by its rank. */
async function prepareFullText(bare: pg.Client, workspaceId: string): Promise<Workspace['fullText']> {
  await bare.query('drop table if exists bench_words');
  await bare.query(
    `create table bench_words as select id, to_tsvector('english', text) as words from chunk where workspace_id = '${workspaceId}'`,
  );
  await bare.query('create index on bench_words using gin (words)');
  await bare.query('vacuum analyze bench_words');
  // A query of Postgres' own parser asks for all of its words.
  const text = `with asked as (select replace(plainto_tsquery('english', $1)::text, '&', '|')::tsquery as any_word)
    select id, ts_rank(words, any_word) as score from bench_words, asked where words @@ any_word order by score desc limit 10`;
  return (question) => bare.query({ name: 'full-text', text, values: [question] });
}

interface Scan {
  name: string;
  pgvector: boolean;
  run(): Promise<unknown>;
}

async function prepareScan(bare: pg.Client, workspaceId: string, model: string, vector: number[]): Promise<Scan> {
  const { rowCount } = await bare.query(`select from pg_available_extensions where name = 'vector'`);
  if (!rowCount) {
    const text = 'select vectors from vector_block where workspace_id = $1 and model = $2 and dimensions = $3';
    const run = () => bare.query({ name: 'bytes', text, values: [workspaceId, model, vector.length] });
    return { name: 'the bytes it reads', pgvector: false, run };
  }
  await bare.query('create extension if not exists vector');
  await bare.query('drop table if exists bench_vector');
  await bare.query(
    `create table bench_vector as
     select id, workspace_id, model, embedding::vector(${vector.length}) as vector from chunk where workspace_id = '${workspaceId}'`,
  );
  await bare.query('create index on bench_vector (workspace_id, model)');
  await bare.query('vacuum analyze bench_vector');
  const text = `select id, vector <#> $3::vector as score from bench_vector
    where workspace_id = $1 and model = $2 order by score limit 10`;
  return { name: "pgvector's scan", pgvector: true, run: () => bare.query(text, [workspaceId, model, `[${vector}]`]) };
}
