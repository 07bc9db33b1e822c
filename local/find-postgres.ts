import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseUrl, passwordFile, postmasterFile } from './postgres-url.ts';

/** The line of Postgres' lock file that holds its port. */
const portLine = 3;

/** The address of the embedded Postgres that runs on a data directory; undefined where none does, or this user may not know. */
export function findEmbeddedPostgres(dataDir: string): string | undefined {
  const home = join(dataDir, 'postgres');
  try {
    const port = Number.parseInt(readFileSync(postmasterFile(home), 'utf8').split('\n')[portLine] ?? '', 10);
    return port > 0 ? databaseUrl(readFileSync(passwordFile(home), 'utf8').trim(), port) : undefined;
  } catch {
    return undefined;
  }
}
