import { join } from 'node:path';

/** The name of the embedded database's superuser, who owns everything in it. */
export const superuser = 'sheaf';
/** The one database of the embedded Postgres. */
export const database = 'sheaf';

/** The address of the embedded database, for its superuser. */
export function databaseUrl(password: string, port: number): string {
  return `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}`;
}

/** The file with the superuser's password, in the directory where Postgres keeps its files. */
export function passwordFile(home: string): string {
  return join(home, 'password');
}

export function clusterDir(home: string): string {
  return join(home, 'cluster');
}

/** The file that Postgres itself keeps while it runs: its process id, directory, start and port, one a line. */
export function postmasterFile(home: string): string {
  return join(clusterDir(home), 'postmaster.pid');
}
