import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { routes } from '../../contract/index.ts';
import type { Summary } from './summary-reporter.ts';

/** What cannot come about: these operations use nothing that could fail. */
const impossible = new Set(['system.health internal_error', 'system.authConfig internal_error']);

/**
 * Compares the answers that a whole run has seen with those that the contract declares: each code of each operation must have
 * come about in some test. Prints what is missing; counts as one test.
 */
export function checkCoverage(directory: string): Summary {
  const seen = readRecord(directory);
  const missing = routes.flatMap(({ metadata: { operation, errors } }) => {
    const declared = ['OK', ...errors, 'payload_too_large', 'internal_error'];
    return declared.map((code) => `${operation} ${code}`).filter((entry) => !seen.has(entry) && !impossible.has(entry));
  });
  console.log(`  ${missing.length === 0 ? '✔' : '✘'} every declared answer of every operation was seen (${seen.size})`);
  for (const entry of missing) console.log(`    not seen: ${entry}`);
  return missing.length === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

function readRecord(directory: string): Set<string> {
  const lines = globSync('answers-*.jsonl', { cwd: directory }).flatMap((name) =>
    readFileSync(join(directory, name), 'utf8').split('\n').filter(Boolean),
  );
  return new Set(
    lines.map((line) => JSON.parse(line) as { operation: string; code: string }).map(({ operation, code }) => `${operation} ${code}`),
  );
}
