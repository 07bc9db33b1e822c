import { readdirSync, readFileSync } from 'node:fs';
import { createAiClient } from '../../../ai/client.ts';
import { createDb } from '../../../db/connect.ts';
import { reconcileVectorIndexes } from '../../../domain/chunks/reconcile-vector-indexes.ts';
import { splitText } from '../../../domain/chunks/split-text.ts';
import { storeChunks } from '../../../domain/chunks/store-chunks.ts';
import { getDocument } from '../../../domain/documents/document.ts';
import { indexPostings } from '../../../domain/lexical/index-postings.ts';
import type { Service } from './service.ts';

const chunksPerDocument = 1_000;
const textsPerCall = 32;

type Ai = ReturnType<typeof createAiClient>;

/** Whose workspaces are made; by default those of the service's tenant. */
export interface Owner {
  organizationId: string;
  token: string;
}

/**
 * A function that makes a workspace of so many chunks, a multiple of 1,000, and returns its id: one document as the service stores it, and
 * the others copied from it by the database. The texts are embedded once.
 */
export async function prepareChunks(service: Service, ai = aiOf(service)) {
  const { model, embedded } = await embed(ai, readTexts());
  const db = createDb(service.pool);
  return async (chunks: number, slug: string, { organizationId, token }: Owner = service): Promise<string> => {
    const workspace = { organizationId, name: slug, slug };
    const { id: workspaceId } = await service.call('POST', '/api/v1/workspaces', workspace, token);
    const upload = { workspaceId, name: 'seed.txt', contentType: 'text/plain', size: 1 };
    const { document } = await service.call('POST', '/api/v1/documents', upload, token);
    const row = await getDocument(db, document.id);
    await db.transaction().execute((trx) => storeChunks(trx, row, model, embedded));
    for (const statement of copyDocument) await service.pool.query(statement, [document.id, chunks / chunksPerDocument]);
    await indexPostings(db);
    // With pgvector, as the service does once an hour.
    await reconcileVectorIndexes(db);
    await service.pool.query('vacuum analyze document, chunk, vector_block, lexical_document, posting');
    return workspaceId;
  };
}

/** A client of the AI service as the API and the worker have it. */
export function aiOf({ stack }: Service): Ai {
  return createAiClient({ baseUrl: stack.aiUrl, token: stack.serviceToken });
}

/** Pieces of real English: what the packages beside this one say of themselves. */
export function readTexts(): string[] {
  const packages = new URL('../../../node_modules/', import.meta.url);
  const readmes = readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('README.md'));
  const texts: string[] = [];
  for (const name of readmes.sort()) {
    if (texts.length >= chunksPerDocument) break;
    texts.push(...splitText(readFileSync(new URL(name, packages), 'utf8')));
  }
  return texts.slice(0, chunksPerDocument);
}

/** Embeds texts in calls as the worker makes them. */
export async function embed(ai: Ai, texts: string[]) {
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
