import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** What a test imports, itself or by way of others, if it uses the services of the run or starts processes of its own. */
const entrances = new Set(['test/support/database.ts', 'test/support/stack.ts', 'test/support/recorder.ts', 'ops/local/supervise.ts']);
const importsOf = new Map<string, string[]>();

/** Whether a test file, named from the root of the project, needs Postgres, Temporal or the AI service. */
export function needsServices(file: string): boolean {
  const seen = new Set([file]);
  for (const path of seen) {
    if (entrances.has(path)) return true;
    for (const imported of readImports(path)) seen.add(imported);
  }
  return false;
}

function readImports(path: string): string[] {
  const known = importsOf.get(path);
  if (known) return known;
  const found = [...readFileSync(path, 'utf8').matchAll(/(?:from|import) '(\.[^']+\.ts)'|import\('(\.[^']+\.ts)'\)/g)];
  // A program that a test writes into a text imports files, too.
  const imports = found
    .map(([, named, dynamic]) => normalize(join(dirname(path), named ?? dynamic ?? '')))
    .filter((imported) => existsSync(imported));
  importsOf.set(path, imports);
  return imports;
}
