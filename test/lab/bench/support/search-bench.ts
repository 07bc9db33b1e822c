import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { chooseForeign } from '../../../../ai/answers/choose-foreign.ts';
import { answerQuestion, findForeign } from '../../../../ai/answers/rank-units.ts';
import { loadE5 } from '../../../../ai/embedding/e5/model.ts';
import { localE5 } from '../../../../ai/embedding/e5/name.ts';
import { embedText, localDimensions, localEmbedModel } from '../../../../ai/embedding/embed-text.ts';
import type { SearchMode } from '../../../../contract/document-search.ts';
import { createDb, createPool, type Db } from '../../../../db/connect.ts';
import { migrate } from '../../../../db/migrate.ts';
import { readPassages } from '../../../../domain/answers/read-passages.ts';
import { toAnswer, toUnits } from '../../../../domain/answers/to-answer.ts';
import { chunkingOf, chunkSize } from '../../../../domain/chunking/chunking.ts';
import { cutChunks } from '../../../../domain/chunking/cut-chunks.ts';
import { getDocument } from '../../../../domain/documents/document.ts';
import { findChunks } from '../../../../domain/search/find-chunks.ts';
import { type EmbeddedChunk, storeChunks } from '../../../../domain/search/store-chunks.ts';
import { startStack } from '../../../../ops/local/stack.ts';
import { e5Weights } from '../../../support/e5-weights.ts';

/** As `npm start` embeds, unless the hash is to be judged. */
const isHash = process.env.LOCAL_EMBED_MODEL === 'hash';
const embed = isHash ? async (text: string) => embedText(text) : await loadE5(await e5Weights());
const kind = { ...(isHash ? { model: localEmbedModel, dimensions: localDimensions } : localE5), chunking: chunkingOf(chunkSize) };
const maxSentences = 5;

/** A document of the bench. */
export interface BenchDocument {
  name: string;
  text: string;
}

/** Documents in a database of their own, searched by the functions that a request and a job call, without HTTP, jobs and the AI service. */
export interface SearchBench {
  /** Plain connections to the same server, for what it is compared with. */
  bare: pg.Pool;
  /** Makes a workspace of these documents, each with its place as its id. */
  fill(workspaceId: string, documents: BenchDocument[]): Promise<void>;
  /** The place of the first hit; undefined if nothing is found. */
  firstHit(workspaceId: string, query: string, mode: SearchMode): Promise<number | undefined>;
  /** The place of the document that an answer without a model cites first; undefined if nothing answers. */
  firstCited(workspaceId: string, question: string): Promise<number | undefined>;
  stop(): Promise<void>;
}

/** Starts Postgres alone, in an empty directory. */
export async function startSearchBench(): Promise<SearchBench> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-bench-'));
  const stack = await startStack({ dataDir, services: ['postgres'], durable: false, temporalUi: false });
  const db = createDb(createPool({ url: stack.databaseUrl, poolSize: 4, work: 'worker' }));
  await migrate(db);
  const bare = new pg.Pool({ connectionString: stack.databaseUrl, max: 2 });
  // A connection that is still closing is told when the server stops.
  bare.on('error', () => {});
  return {
    bare,
    async fill(workspaceId, documents) {
      await insertWorkspace(db, workspaceId);
      for (const [place, document] of documents.entries()) await insertDocument(db, workspaceId, place, document);
    },
    async firstHit(workspaceId, query, mode) {
      const [first] = await search(db, { workspaceId, query, mode });
      return first && placeOf(workspaceId, first.document_id);
    },
    async firstCited(workspaceId, question) {
      const passages = await readPassages(db, await search(db, { workspaceId, query: question, mode: 'hybrid' }));
      const asked = { question, before: null, draft: false, maxSentences, embedModel: kind.model, passages: passages.map(toUnits) };
      const byWords = answerQuestion(asked);
      const embedAll = (texts: string[]) => Promise.all(texts.map(embed));
      const picks = byWords.length > 0 ? byWords : await chooseForeign(asked, findForeign(asked), embedAll);
      const { sentences } = toAnswer({ answer: picks, draft: null, extractive: true, model: null }, passages, maxSentences);
      const id = sentences[0]?.citations[0]?.documentId;
      return id === undefined ? undefined : placeOf(workspaceId, id);
    },
    async stop() {
      await Promise.all([bare.end(), db.destroy()]);
      await stack.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

interface AskedSearch {
  workspaceId: string;
  query: string;
  mode: SearchMode;
}

async function search(db: Db, { workspaceId, query, mode }: AskedSearch) {
  const embedded = mode === 'lexical' ? undefined : { model: kind.model, vector: await embed(query) };
  const asked = { workspaceId, query: mode === 'semantic' ? undefined : query, embedded, limit: 10 };
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return (await snapshot.execute((trx) => findChunks(trx, asked))).chunks;
}

function placeOf(workspaceId: string, documentId: string): number {
  return Number(documentId.slice(workspaceId.length + 1));
}

async function insertWorkspace(db: Db, id: string): Promise<void> {
  await db.insertInto('organization').values({ id, name: id, slug: id, createdAt: new Date() }).execute();
  await db.insertInto('workspace').values({ id, organization_id: id, name: id, slug: id }).execute();
  await db
    .insertInto('workspace_index')
    .values({ workspace_id: id, ...kind })
    .execute();
}

async function insertDocument(db: Db, workspaceId: string, place: number, { name, text }: BenchDocument): Promise<void> {
  const id = `${workspaceId}-${place}`;
  const where = { organization_id: workspaceId, workspace_id: workspaceId, object_key: id, status: 'ready' as const };
  const stored = { name, content_type: 'text/plain', size_bytes: 1, extracted_at: sql<Date>`now()` };
  await db
    .insertInto('document')
    .values({ id, ...where, ...stored })
    .execute();
  const outline = { characters: [...text].length, pages: null, headings: [] };
  await db
    .insertInto('document_text')
    .values({ document_id: id, text, outline: JSON.stringify(outline) })
    .execute();
  const document = await getDocument(db, id);
  const chunks: EmbeddedChunk[] = [];
  for (const chunk of cutChunks(text, outline, { contentType: stored.content_type }))
    chunks.push({ ...chunk, embedding: await embed(chunk.embedded) });
  await db.transaction().execute((trx) => storeChunks(trx, document, kind, chunks));
}
