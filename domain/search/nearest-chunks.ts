import type { Transaction } from '../../db/connect.ts';
import type { SearchPath } from '../../db/facts.ts';
import { hasPgvector, nearestByIndex, nearestByPgvector } from './pgvector.ts';
import { scanVectorBlocks } from './vector-blocks.ts';
import type { ChunkKey, VectorQuery } from './vector-query.ts';

/**
 * Candidates for the chunks that are nearest to a query, all of its workspace, model and dimensions: with pgvector by the workspace's index
 * or a scan of half-precision vectors, without it by a scan of quantized vectors. No other file knows the difference.
 */
export async function nearestChunks(trx: Transaction, query: VectorQuery): Promise<{ path: SearchPath; chunks: ChunkKey[] }> {
  if (!(await hasPgvector(trx))) return { path: 'quantized', chunks: await scanVectorBlocks(trx, query) };
  const byIndex = await nearestByIndex(trx, query);
  return byIndex ? { path: 'index', chunks: byIndex } : { path: 'exact', chunks: await nearestByPgvector(trx, query) };
}
