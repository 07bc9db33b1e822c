import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { createAiClient } from '../../../ai/client.ts';
import { createDb } from '../../../db/connect.ts';
import { splitText } from '../../../domain/chunks/split-text.ts';
import { storeChunks } from '../../../domain/chunks/store-chunks.ts';
import { getDocument } from '../../../domain/documents/document.ts';
import { indexPostings } from '../../../domain/lexical/index-postings.ts';
import type { Measure } from '../support/figure.ts';
import { type Figure, type Target, toFigure } from '../support/figure.ts';
import { alternate, medianMs } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';

/** Without pgvector: the sizes and what a search may take, its HTTP request and the embedding of the query included. */
const sizes: Array<[chunks: number, target: Target]> = [
  [1_000, { atMost: 25 }],
  [10_000, { atMost: 50 }],
  [100_000, { atMost: 200 }],
];
const withPgvector: Target = { ratio: { atMost: 1.5 } };
const query = 'how are the mirrors of the telescope cleaned';
const chunksPerDocument = 1_000;
const textsPerCall = 32;

type Ai = ReturnType<typeof createAiClient>;

/**
 * A search in workspaces of three sizes. Its baseline embeds the query, too, and then has a bare client of Postgres scan the same
 * workspace: with pgvector's operator and nothing else, or, if the database has no pgvector, reading the bytes that a search reads
 * without looking at them.
 */
export const search: Measure = async (service, { quick, rounds }) => {
  const ai = createAiClient({ baseUrl: service.stack.aiUrl, token: service.stack.serviceToken });
  const { model, vectors } = await ai.embed({ texts: [query] });
  const vector = vectors[0] ?? [];
  const texts = readTexts();
  const bare = new pg.Client({ connectionString: service.stack.databaseUrl });
  await bare.connect();
  try {
    const figures: Figure[] = [];
    for (const [size, target] of quick ? sizes.slice(0, 2) : sizes) {
      const workspaceId = await seed(service, ai, texts, size);
      const scan = await prepareScan(bare, workspaceId, model, vector);
      const times = size > 10_000 ? 5 : 12;
      const measured = await alternate(
        rounds(5),
        () => medianMs(times, () => service.call('POST', `/api/v1/workspaces/${workspaceId}/documents/search`, { query })),
        () =>
          medianMs(times, async () => {
            await ai.embed({ texts: [query] });
            await scan.run();
          }),
      );
      const name = `search, ${size.toLocaleString('en')} chunks, beside ${scan.name}`;
      figures.push(toFigure(name, { ...measured, unit: 'ms' }, scan.pgvector ? withPgvector : target));
      for (const mode of ['lexical', 'hybrid']) {
        const p95 = await p95Ms(10 * times, () =>
          service.call('POST', `/api/v1/workspaces/${workspaceId}/documents/search`, { query, mode }),
        );
        figures.push(toFigure(`search, ${size.toLocaleString('en')} chunks, ${mode}: p95`, { value: p95, unit: 'ms' }, { atMost: 50 }));
      }
    }
    return figures;
  } finally {
    await bare.end();
  }
};

/** The time that 95 of 100 runs stay below. */
async function p95Ms(runs: number, run: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < runs; n++) {
    const started = performance.now();
    await run();
    times.push(performance.now() - started);
  }
  return times.sort((one, other) => one - other)[Math.floor(runs * 0.95)] ?? 0;
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

/** Pieces of real English: what the packages beside this one say of themselves. */
function readTexts(): string[] {
  const packages = new URL('../../../node_modules/', import.meta.url);
  const readmes = readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('README.md'));
  const texts: string[] = [];
  for (const name of readmes.sort()) {
    if (texts.length >= chunksPerDocument) break;
    texts.push(...splitText(readFileSync(new URL(name, packages), 'utf8')));
  }
  return texts.slice(0, chunksPerDocument);
}

/** A workspace of so many chunks: one document as the service stores it, and the others copied from it by the database. */
async function seed(service: Service, ai: Ai, texts: string[], chunks: number): Promise<string> {
  const slug = `search-${chunks}`;
  const workspace = { organizationId: service.organizationId, name: slug, slug };
  const { id: workspaceId } = await service.call('POST', '/api/v1/workspaces', workspace);
  const upload = { workspaceId, name: 'seed.txt', contentType: 'text/plain', size: 1 };
  const { document } = await service.call('POST', '/api/v1/documents', upload);
  const { model, embedded } = await embed(ai, texts);
  const db = createDb(service.pool);
  const row = await getDocument(db, document.id);
  await db.transaction().execute((trx) => storeChunks(trx, row, model, embedded));
  for (const statement of copyDocument) await service.pool.query(statement, [document.id, chunks / chunksPerDocument]);
  await indexPostings(db);
  await service.pool.query('vacuum analyze document, chunk, vector_block, lexical_document, posting');
  return workspaceId;
}

async function embed(ai: Ai, texts: string[]) {
  const embedded: Array<{ text: string; embedding: number[] }> = [];
  let model = '';
  for (let start = 0; start < texts.length; start += textsPerCall) {
    const some = texts.slice(start, start + textsPerCall);
    const answer = await ai.embed({ texts: some });
    model = answer.model;
    embedded.push(...some.map((text, index) => ({ text, embedding: answer.vectors[index] ?? [] })));
  }
  return { model, embedded };
}

const copyDocument = [
  ['document', `'id', document.id || '-' || n, 'object_key', object_key || '-' || n`, 'id'],
  ['chunk', `'id', chunk.id || '-' || n, 'document_id', document_id || '-' || n`, 'document_id'],
  ['vector_block', `'document_id', document_id || '-' || n`, 'document_id'],
].map(
  ([table, changes, key]) => `insert into ${table}
    select (jsonb_populate_record(${table}, jsonb_build_object(${changes}))).*
    from ${table} cross join generate_series(2, $2::int) as n where ${table}.${key} = $1`,
);
