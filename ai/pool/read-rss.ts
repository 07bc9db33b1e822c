import { readFile } from 'node:fs/promises';

const pageBytes = 4096;

/** What a process holds in memory, in bytes; undefined where the system does not tell (only Linux does, cheaply). */
export async function readRssBytes(pid: number | undefined): Promise<number | undefined> {
  if (pid === undefined || process.platform !== 'linux') return undefined;
  try {
    const pages = Number((await readFile(`/proc/${pid}/statm`, 'latin1')).split(' ')[1]);
    return Number.isFinite(pages) ? pages * pageBytes : undefined;
  } catch {
    return undefined;
  }
}
