import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A database on a server that runs already. */
interface OwnDatabase {
  url: string;
  drop(): Promise<void>;
}

/** Makes an empty database beside the one of `url`, for one run. The API migrates it at its start. */
export async function createOwnDatabase(url: string): Promise<OwnDatabase> {
  const name = `sheaf_bench_${randomUUID().replaceAll('-', '')}`;
  const own = new URL(url);
  own.pathname = `/${name}`;
  await asAdmin(url, `create database ${name}`);
  return { url: own.href, drop: () => asAdmin(url, `drop database if exists ${name} with (force)`) };
}

async function asAdmin(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
