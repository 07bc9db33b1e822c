import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Effort, Figure } from '../support/figure.ts';
import type { Judge } from '../support/judge.ts';

/** Each part with its folder below the directory of sets, loaded when it is asked for. */
const parts: Record<string, { folder: string; load: () => Promise<Judge> }> = {
  answering: { folder: '.', load: async () => (await import('../judges/answering.ts')).answering },
  finding: { folder: 'xquad', load: async () => (await import('../judges/finding.ts')).finding },
  receipts: { folder: 'receipts', load: async () => (await import('../judges/receipts.ts')).receipts },
  tables: { folder: 'tables', load: async () => (await import('../judges/tables.ts')).tables },
};

/**
 * Judges reading, finding and answering by public sets that nobody of this project made. `directory` is laid out as docs/quality.md says.
 * A set that is not there is left out, and named on standard error.
 */
export async function judges(effort: Effort, directory: string | undefined, named: string[]): Promise<Figure[]> {
  if (directory === undefined) throw new Error('Name the directory of the public sets with --judges DIR.');
  const figures: Figure[] = [];
  for (const [name, { folder, load }] of Object.entries(parts)) {
    if (named.length > 0 && !named.includes(name)) continue;
    const set = resolve(join(directory, folder));
    if (!existsSync(set)) {
      process.stderr.write(`${set} is not there: ${name} is left out.\n`);
      continue;
    }
    const judge = await load();
    figures.push(...(await judge(set, effort)));
  }
  return figures;
}
