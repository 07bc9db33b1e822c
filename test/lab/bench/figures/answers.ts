import { createAiClient } from '../../../../adapters/ai-service/client.ts';
import type { SearchMode } from '../../../../contract/document-search.ts';
import { createDb } from '../../../../db/connect.ts';
import type { DocumentRow } from '../../../../domain/documents/document.ts';
import { newId } from '../../../../domain/ids.ts';
import { storeChunks } from '../../../../domain/search/store-chunks.ts';
import { plainBm25 } from '../baselines/plain-bm25.ts';
import { fiveLanguages } from '../collections/five-languages.ts';
import { type Collection, readCollections } from '../support/collection.ts';
import { type Figure, type Measure, type Target, toFigure } from '../support/figure.ts';
import type { Service } from '../support/service.ts';

const modes: SearchMode[] = ['semantic', 'lexical', 'hybrid'];
/** Where public collections are looked for; docs/quality.md says how they come there. */
const collectionsDirectory = '.data/collections';
const asked = 10;
/** The model that is measured instead of the local hash: `e5`. */
const localModel = process.env.LOCAL_EMBED_MODEL;

/** `hybrid` must never be worse than the better of its halves. */
const ofBetterHalf: Target = { ratio: { atLeast: 1 } };
/** nDCG@10 that is to be reached on Cranfield; `hybrid` with e5. */
const onCranfield = { lexical: 0.37, hybrid: 0.42 };

/**
 * Whether each mode of a search finds what is asked for, over collections with judgements, through the API. Every document is one chunk. The
 * baseline is plain BM25 in memory, and for `hybrid` the better of its two halves.
 */
export const answers: Measure = async (service) => {
  const collections = readCollections(collectionsDirectory);
  if (collections.length === 0)
    process.stderr.write(
      `There is no public collection in ${collectionsDirectory}; see docs/quality.md. Measuring only the one in this repository.\n`,
    );
  if (localModel) await service.stack.restart('ai', { LOCAL_EMBED_MODEL: localModel });
  const figures: Figure[] = [];
  for (const collection of [fiveLanguages, ...collections]) figures.push(...(await measure(service, collection)));
  if (localModel) await service.stack.restart('ai');
  return figures;
};

async function measure(service: Service, collection: Collection): Promise<Figure[]> {
  const workspaceId = await seed(service, collection);
  const search = plainBm25(collection.documents);
  const plain = await judge(collection, async (query) => search(query, asked));
  const found: Record<string, number> = {};
  for (const mode of modes) found[mode] = await judge(collection, (query) => searchOver(service, workspaceId, query, mode));
  const better = Math.max(found.semantic ?? 0, found.lexical ?? 0);
  return modes.map((mode) => {
    const measured = { value: found[mode] ?? 0, baseline: mode === 'hybrid' ? better : plain, unit: '' };
    return toFigure(`${collection.name}, ${mode}: nDCG@10`, measured, targetOf(collection, mode));
  });
}

/** What nDCG@10 is to reach. A collection is Cranfield if its name says so. */
function targetOf({ name }: Collection, mode: SearchMode): Target {
  const isCranfield = /cranfield/i.test(name);
  if (mode === 'lexical' && isCranfield) return { atLeast: onCranfield.lexical };
  if (mode !== 'hybrid') return {};
  return isCranfield && localModel === 'e5' ? { ...ofBetterHalf, atLeast: onCranfield.hybrid } : ofBetterHalf;
}

/** How good the first ten results of every question are, as nDCG@10: 1 is as good as can be. */
async function judge({ questions }: Collection, search: (query: string) => Promise<string[]>): Promise<number> {
  let ndcg = 0;
  for (const { query, relevant } of questions) {
    const gains = (await search(query)).map((id) => (relevant.includes(id) ? 1 : 0));
    const ideal = discount(Array.from({ length: Math.min(asked, relevant.length) }, () => 1));
    ndcg += discount(gains) / ideal / questions.length;
  }
  return ndcg;
}

function discount(gains: number[]): number {
  return gains.reduce((sum, gain, place) => sum + gain / Math.log2(place + 2), 0);
}

async function searchOver(service: Service, workspaceId: string, query: string, mode: SearchMode): Promise<string[]> {
  const body = { query: [...query].slice(0, 1_000).join(''), mode, limit: asked };
  const { results } = await service.call('POST', `/api/v1/workspaces/${workspaceId}/documents/search`, body);
  return results.map(({ documentName }: { documentName: string }) => documentName);
}

/** A workspace that holds a collection; a document's name is its id in the collection. */
async function seed(service: Service, { name, documents }: Collection): Promise<string> {
  const { organizationId } = service;
  const slug = name.replaceAll(/\W+/g, '-').toLowerCase();
  const { id: workspaceId } = await service.call('POST', '/api/v1/workspaces', { organizationId, name, slug });
  const ai = createAiClient({ baseUrl: service.stack.aiUrl, token: service.stack.serviceToken });
  const db = createDb(service.pool);
  const { textsPerCall = 32 } = (await ai.health()).embeddings[0] ?? {};
  for (let start = 0; start < documents.length; start += textsPerCall) {
    const some = documents.slice(start, start + textsPerCall);
    const { model, vectors } = await ai.embed({ texts: some.map(({ text }) => text) });
    for (const [index, { id, text }] of some.entries()) {
      const row = { id: newId(), organization_id: organizationId, workspace_id: workspaceId, name: id, content_type: 'text/plain' };
      await db.transaction().execute(async (trx) => {
        const stored = { ...row, size_bytes: 1, status: 'ready' as const, object_key: row.id };
        const document = await trx.insertInto('document').values(stored).returningAll().executeTakeFirstOrThrow();
        await storeChunks(trx, document as DocumentRow, { model, dimensions: vectors[index]?.length ?? 0, chunking: '1' }, [
          { text, embedding: vectors[index] ?? [] },
        ]);
      });
    }
  }
  await service.pool.query('vacuum analyze document, chunk, vector_block, lexical_document, posting');
  return workspaceId;
}
