import pg from 'pg';
import { createDb } from '../../../db/connect.ts';
import { reconcileVectorIndexes } from '../../../domain/chunks/reconcile-vector-indexes.ts';
import { storeChunks } from '../../../domain/chunks/store-chunks.ts';
import { getDocument } from '../../../domain/documents/document.ts';
import { aiOf, embed, readTexts } from '../support/chunks.ts';
import { type Measure, toFigure } from '../support/figure.ts';
import { alternate, medianMs, percentile } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';

const chunksPerDocument = 1_000;
const sentencesPerChunk = 4;
const nearest = 10;

/**
 * Search in one workspace of `BENCH_CHUNKS` chunks (1,000,000 by default), which takes most of an hour to make. Each text is made of sentences
 * of different packages, so that no two are the same. Its baseline is the scan of all vectors by pgvector's operator, which is exact; without
 * pgvector there is nothing to measure.
 */
export const largeWorkspace: Measure = async (service, { quick, rounds }) => {
  const size = Number(process.env.BENCH_CHUNKS ?? (quick ? 60_000 : 1_000_000));
  const ai = aiOf(service);
  const text = createTexts();
  const db = createDb(service.pool);
  const bare = new pg.Client({ connectionString: service.stack.databaseUrl });
  await bare.connect();
  try {
    const { rowCount } = await bare.query(`select from pg_available_extensions where name = 'vector'`);
    if (!rowCount) return [];
    for (let stored = 0; stored < size; stored += chunksPerDocument) {
      await storeDocument(
        service,
        db,
        await embed(
          ai,
          Array.from({ length: chunksPerDocument }, () => text(sentencesPerChunk)),
        ),
      );
      if (stored % 50_000 === 0) process.stderr.write(`${stored.toLocaleString('en')} of ${size.toLocaleString('en')} chunks\n`);
    }
    await bare.query('vacuum analyze document, chunk, vector_block, lexical_document, posting');
    const startedAt = performance.now();
    process.stderr.write(`${JSON.stringify(await reconcileVectorIndexes(db))}\n`);
    const buildSeconds = (performance.now() - startedAt) / 1_000;
    await bare.query('vacuum analyze chunk');

    const search = (query: string) =>
      service.call('POST', `/api/v1/workspaces/${service.workspaceId}/documents/search`, { query, limit: nearest });
    const queries = Array.from({ length: 100 }, () => text(1));
    for (const query of queries) await search(query);
    const times: number[] = [];
    for (const query of queries) times.push(await medianMs(1, () => search(query)));

    const recalls: number[] = [];
    for (const query of queries.slice(0, quick ? 10 : 30)) {
      const { vectors } = await embedQuery(ai, query);
      const exact = await scan(bare, service.workspaceId, vectors);
      const least = (exact.at(-1) ?? 0) - 1e-5;
      const { results } = await search(query);
      recalls.push(results.filter(({ score }: { score: number }) => score >= least).length / nearest);
    }
    const query = queries[0] ?? '';
    const { vectors } = await embedQuery(ai, query);
    const measured = await alternate(
      rounds(3),
      () => medianMs(5, () => search(query)),
      () => medianMs(1, () => scan(bare, service.workspaceId, vectors)),
    );
    const name = `search, ${size.toLocaleString('en')} chunks`;
    return [
      toFigure(`${name}: p95 of ${queries.length} queries`, { value: percentile(times, 95), unit: 'ms' }, { atMost: 50 }),
      toFigure(`${name}, beside pgvector's scan of all`, { ...measured, unit: 'ms' }),
      toFigure(
        `${name}: share of the ten nearest that is found`,
        { value: recalls.reduce((sum, each) => sum + each, 0) / recalls.length, baseline: 1, unit: '' },
        { ratio: { atLeast: 0.95 } },
      ),
      toFigure(`${name}: building the index`, { value: buildSeconds, unit: 's' }),
    ];
  } finally {
    await bare.end();
  }
};

async function storeDocument(
  service: Service,
  db: ReturnType<typeof createDb>,
  { model, embedded }: Awaited<ReturnType<typeof embed>>,
): Promise<void> {
  const upload = { workspaceId: service.workspaceId, name: 'seed.txt', contentType: 'text/plain', size: 1 };
  const { document } = await service.call('POST', '/api/v1/documents', upload);
  const row = await getDocument(db, document.id);
  await db.transaction().execute((trx) => storeChunks(trx, row, model, embedded));
}

async function embedQuery(ai: ReturnType<typeof aiOf>, query: string) {
  const { vectors } = await ai.embed({ texts: [query] });
  return { vectors: vectors[0] ?? [] };
}

/** The scores of the nearest, exactly. */
async function scan(bare: pg.Client, workspaceId: string, vector: number[]): Promise<number[]> {
  const { rows } = await bare.query<{ score: number }>(
    `select -(embedding::vector(${vector.length}) <#> $2::vector) as score from chunk where workspace_id = $1 order by 1 desc limit ${nearest}`,
    [workspaceId, `[${vector}]`],
  );
  return rows.map(({ score }) => score);
}

/** A function that makes texts of real sentences; the same ones in each run. */
function createTexts(): (sentences: number) => string {
  const sentences = readTexts()
    .flatMap((text) => text.replaceAll(/\s+/g, ' ').split(/(?<=[.!?]) /))
    .filter((sentence) => sentence.length >= 30 && sentence.length <= 300);
  let seed = 1;
  const next = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return sentences[(seed >>> 8) % sentences.length] ?? '';
  };
  return (count) => Array.from({ length: count }, next).join(' ');
}
