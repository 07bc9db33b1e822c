import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { keptLogs, type NotedSecret, notesOf, partsOf } from './run-secrets.ts';
import { oneTest, type Summary } from './summary-reporter.ts';

/** What no log holds, whatever its value is. */
const patterns: [what: string, pattern: RegExp][] = [
  ['a signed link', /[?&;](?:signature|token|X-Goog-[A-Za-z]+|X-Amz-(?:Signature|Credential|Security-Token))=/i],
  ['a bearer token', /\bbearer\s+[\w.-]{8,}/i],
  ['a session', /set-auth-token|session_token["=:]/i],
  ['a password in a URL', /\b[a-z]+:\/\/[^\s/:@"\\]*:[^\s/:@"\\]+@/i],
  ["a provider's key", /\b(?:sk|rk)_(?:test|live)_\w+|\bwhsec_\w+/],
  ['a mail address', /[\w.+-]+@example\.(?:com|org|net)/i],
];

/** A line of a log that holds what it must not. */
interface Finding {
  /** The file and the line's number. */
  at: string;
  what: string;
  line: string;
}

interface LogSearch {
  findings: Finding[];
  /** How many lines were searched. */
  lines: number;
}

/**
 * Searches the logs of a run's services, those of the run itself and those that its tests have left, for secrets and contents. Postgres's own
 * log is left out: it quotes the rows of statements that tests mean to fail.
 */
export function findSecrets(directory: string): LogSearch {
  const noted = readNotes(directory);
  const tokens = new Set(noted.filter(({ sort }) => sort === 'token').map(({ value }) => value));
  const texts = noted.filter(({ sort }) => sort === 'text').map(({ value }) => JSON.stringify(value).slice(1, -1));
  const search: LogSearch = { findings: [], lines: 0 };
  for (const file of globSync([`${keptLogs}/*`, 'logs/*'], { cwd: directory })) {
    if (basename(file).startsWith('postgres')) continue;
    const content = readFileSync(join(directory, file), 'utf8');
    // A whole file at once is searched much faster than each of its lines.
    const here = texts.filter((text) => content.includes(text));
    for (const [index, line] of content.split('\n').entries()) {
      if (line === '') continue;
      search.lines++;
      for (const what of whatIsIn(line, tokens, here)) search.findings.push({ at: `${file}:${index + 1}`, what, line });
    }
  }
  return search;
}

/** The same as a test of the run: prints what was found. A whole run must have left logs. */
export function checkLogs(directory: string, { whole }: { whole: boolean }): Summary {
  const { findings, lines } = findSecrets(directory);
  const passed = findings.length === 0 && (lines > 0 || !whole);
  const name = 'no secret and no content of a tenant is in the logs of this run';
  console.log(`  ${passed ? '✔' : '✘'} ${name} (${lines} lines)`);
  for (const { at, what, line } of findings.slice(0, 20)) console.log(`    ${what} at ${at}: ${line.slice(0, 600)}`);
  return oneTest(name, passed);
}

function whatIsIn(line: string, tokens: ReadonlySet<string>, texts: readonly string[]): string[] {
  const found = patterns.filter(([, pattern]) => pattern.test(line)).map(([what]) => what);
  if (partsOf(line).some((part) => tokens.has(part))) found.push('a token or key of a test');
  if (texts.some((text) => line.includes(text))) found.push('a text of a test');
  return found;
}

function readNotes(directory: string): NotedSecret[] {
  const lines = globSync(notesOf, { cwd: directory }).flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n'));
  return lines.filter(Boolean).map((line) => JSON.parse(line) as NotedSecret);
}
