import type { Logger } from 'pino';
import { createDb, createPool } from '../db/connect.ts';
import { keepVectorIndexes } from '../domain/chunks/keep-vector-indexes.ts';

const intervalMs = 60 * 60_000;

/**
 * Looks now, and each hour, whether large workspaces have the indexes that they can have. In the background: a build takes
 * minutes, and search is right without it. A build whose process ends is finished by the database.
 */
export function followVectorIndexes({ url, log }: { url: string; log: Logger }): void {
  let said: string | undefined;
  const look = async () => {
    const db = createDb(createPool({ url, poolSize: 1, name: 'sheaf indexes', transactionMs: 0 }));
    try {
      const kept = await keepVectorIndexes(db);
      const text = JSON.stringify(kept);
      if (kept && text !== said) log.info(kept, 'exact' in kept ? 'every search is exact' : 'large workspaces are searched by index');
      said = text;
    } catch (error) {
      log.warn({ err: error }, 'the indexes for search could not be made; searches without one are exact');
    } finally {
      await db.destroy();
    }
  };
  void look();
  setInterval(() => void look(), intervalMs).unref();
}
