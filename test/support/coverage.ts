import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { routes } from '../../contract/index.ts';
import { add, oneTest, type Summary } from './summary-reporter.ts';

/** What cannot come about: these operations use nothing that could fail. */
const impossible = new Set(
  ['system.health', 'system.authConfig'].flatMap((operation) => [`${operation} internal_error`, `${operation} SERVICE_UNAVAILABLE`]),
);

/** Endpoints of sign-in that take no request: what they do is turned off, or done elsewhere (docs/identity.md says where). */
export const neverTaken = new Set([
  'POST /get-session',
  'POST /update-session',
  'GET /delete-user/callback',
  'POST /two-factor/send-otp',
  'POST /two-factor/verify-otp',
  'POST /organization/delete',
]);

/** Endpoints of sign-in that refuse no request. */
export const neverRefused = new Set(['GET /get-session', 'GET /ok', 'GET /error']);

interface Entry {
  operation: string;
  status: number;
  code: string;
}

/**
 * Compares the answers that a whole run has seen with those that the contract declares: each code of each operation must have
 * come about in some test; and each endpoint of sign-in must have taken a request and refused one. Prints what is missing; each
 * comparison counts as one test.
 */
export async function checkCoverage(directory: string): Promise<Summary> {
  const entries = readRecord(directory);
  const answers = report('every declared answer of every operation was seen', missingCodes(entries));
  return add(answers, report('every endpoint of sign-in took a request and refused one', await missingCalls(entries)));
}

function missingCodes(entries: Entry[]): string[] {
  const seen = new Set(entries.map(({ operation, code }) => `${operation} ${code}`));
  return routes.flatMap(({ metadata: { operation, errors } }) => {
    const declared = ['OK', ...errors, 'payload_too_large', 'internal_error'];
    return declared.map((code) => `${operation} ${code}`).filter((entry) => !seen.has(entry) && !impossible.has(entry));
  });
}

/** better-auth takes a second to load: only a whole run needs its list of endpoints. */
async function missingCalls(entries: Entry[]): Promise<string[]> {
  const { isFor, listAuthEndpoints } = await import('./auth-endpoints.ts');
  const calls = entries.filter(({ operation }) => operation.includes(' /api/auth/'));
  return listAuthEndpoints().flatMap((endpoint) => {
    const statuses = calls.filter(({ operation }) => isFor(endpoint, operation)).map(({ status }) => status);
    const taken = neverTaken.has(endpoint.name) || statuses.some((status) => status < 400);
    const refused = neverRefused.has(endpoint.name) || statuses.some((status) => status >= 400 && status < 500);
    return [...(taken ? [] : [`${endpoint.name}: a right request`]), ...(refused ? [] : [`${endpoint.name}: a wrong request`])];
  });
}

function report(claim: string, missing: string[]): Summary {
  console.log(`  ${missing.length === 0 ? '✔' : '✘'} ${claim}`);
  for (const entry of missing) console.log(`    not seen: ${entry}`);
  return oneTest(claim, missing.length === 0);
}

function readRecord(directory: string): Entry[] {
  return globSync('answers-*.jsonl', { cwd: directory })
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n').filter(Boolean))
    .map((line) => JSON.parse(line) as Entry);
}
