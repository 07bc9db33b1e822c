import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a worker is made of: its folder, and those it imports from. */
const folders = ['activities', 'adapters', 'base', 'contract', 'db', 'domain', 'worker', 'workflows'];

/** A text of a source file, and what stands in its place in another release. */
export interface Edit {
  file: string;
  from: string;
  to: string;
}

/** Writes another release of the worker into an empty directory: today's sources, with the edits. Throws where an edit finds nothing. */
export function makeRelease(directory: string, edits: Edit[]): void {
  for (const folder of folders) cpSync(folder, join(directory, folder), { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) cpSync(file, join(directory, file));
  symlinkSync(join(process.cwd(), 'node_modules'), join(directory, 'node_modules'));
  for (const { file, from, to } of edits) {
    const path = join(directory, file);
    const source = readFileSync(path, 'utf8');
    if (source.split(from).length !== 2) throw new Error(`${file} has no single place that says: ${from}`);
    writeFileSync(path, source.replace(from, to));
  }
}
