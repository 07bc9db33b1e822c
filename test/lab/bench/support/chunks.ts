import { readdirSync, readFileSync } from 'node:fs';
import { createAiClient } from '../../../../adapters/ai-service/client.ts';
import { createDb } from '../../../../db/connect.ts';
import { splitText } from '../../../../domain/chunking/split-text.ts';
import { getDocument } from '../../../../domain/documents/document.ts';
import { reconcileVectorIndexes } from '../../../../domain/search/reconcile-vector-indexes.ts';
import { storeChunks } from '../../../../domain/search/store-chunks.ts';
import type { Service } from './service.ts';

const textsPerCall = 32;
/** Of each document. */
const chunksPerDocument = 1_000;

type Ai = ReturnType<typeof createAiClient>;

/** Whose workspaces are made; by default those of the service's tenant. */
interface Owner {
  organizationId: string;
  token: string;
}

/**
 * A function that makes a workspace of so many chunks, a multiple of a thousand, and returns its id: the first document as the service
 * stores it, and the others copied from it by the database. The texts are embedded once.
 */
export async function prepareChunks(service: Service, ai = aiOf(service)) {
  const { model, embedded } = await embed(ai, readTexts());
  const db = createDb(service.pool);
  const kind = { model, dimensions: embedded[0]?.embedding.length ?? 0, chunking: '1' };
  return async (chunks: number, slug: string, { organizationId, token }: Owner = service): Promise<string> => {
    const workspace = { organizationId, name: slug, slug };
    const { id: workspaceId } = await service.call('POST', '/api/v1/workspaces', workspace, token);
    const upload = { workspaceId, name: 'seed.txt', contentType: 'text/plain', size: 1 };
    const { document } = await service.call('POST', '/api/v1/documents', upload, token);
    const row = await getDocument(db, document.id);
    await db.transaction().execute((trx) => storeChunks(trx, row, kind, embedded));
    const values = [[document.id], chunks / chunksPerDocument];
    for (const statement of [...copyRows, copyTerms]) await service.pool.query(statement, values);
    if ((await service.pool.query(`select from pg_class where relname = 'chunk_vector'`)).rowCount)
      await service.pool.query(copyVectors, values);
    await service.pool.query('analyze lexical_document, posting');
    await service.pool.query(copyPostings, values);
    // As the service does once an hour.
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
function readTexts(): string[] {
  const packages = new URL('../../../../node_modules/', import.meta.url);
  const readmes = readdirSync(packages, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('README.md'));
  const texts: string[] = [];
  for (const name of readmes.sort()) {
    if (texts.length >= chunksPerDocument) break;
    texts.push(...splitText(readFileSync(new URL(name, packages), 'utf8')).map(({ text }) => text));
  }
  if (texts.length < chunksPerDocument) throw new Error(`there are only ${texts.length} texts`);
  return texts.slice(0, chunksPerDocument);
}

/** Embeds texts in calls as the worker makes them. */
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

const copyRow = ([table = '', changes = '', key = '']: string[]) => `insert into ${table}
    select (jsonb_populate_record(${table}, jsonb_build_object(${changes}))).*
    from ${table} cross join generate_series(2, $2::int) as n where ${table}.${key} = any($1::text[])`;

const copyRows = [
  ['document', `'id', document.id || '-' || n, 'object_key', object_key || '-' || n`, 'id'],
  ['chunk', `'id', chunk.id || '-' || n, 'document_id', document_id || '-' || n`, 'document_id'],
  ['vector_block', `'document_id', document_id || '-' || n`, 'document_id'],
  ['document_index', `'document_id', document_id || '-' || n`, 'document_id'],
].map(copyRow);

/** With pgvector. */
const copyVectors = `insert into chunk_vector
  select document_id || '-' || n, index, workspace_id, model, dimensions, vector
  from chunk_vector cross join generate_series(2, $2::int) as n where document_id = any($1::text[])`;

const copyTerms = `insert into lexical_document
    (document_id, organization_id, workspace_id, chunk_count, term_count, workspace_key, terms)
  select document_id || '-' || n, organization_id, workspace_id, chunk_count, term_count, workspace_key, terms
  from lexical_document cross join generate_series(2, $2::int) as n where document_id = any($1::text[])`;

/** Document by document, as the service does, which decides how full the pages of the index are. */
const copyPostings = `insert into posting (workspace_key, term, document_number, part, chunk_count, postings)
  select posting.workspace_key, term, copy.number, part, posting.chunk_count, postings
  from lexical_document as original cross join unnest(original.terms) as own (word)
    join posting on posting.workspace_key = original.workspace_key and term = own.word and document_number = original.number
    cross join generate_series(2, $2::int) as n
    join lexical_document as copy on copy.document_id = original.document_id || '-' || n
  where original.document_id = any($1::text[])
  order by copy.number, term, part`;
