import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { parse } from '@babel/parser';
import { check } from 'recheck';
import rewritePattern from 'regexpu-core';

/** A regular expression of the sources, and where it is: `file:line`. */
export interface Expression {
  source: string;
  flags: string;
  place: string;
}

/** Those of tests and tools read what this project itself has written. */
const elsewhere = ['**/node_modules/**', '.data/**', 'test/**', 'clients/typescript/dist/**', 'clients/python/**', 'clients/web/dist/**'];
/** Verdicts of earlier runs: most take milliseconds, some a second. */
const memory = 'node_modules/.cache/sheaf/regular-expressions.json';
/** Larger automata take ten times as long as attacks on the expression itself, which find the same. */
const effort = { maxNFASize: 1_000, timeout: 60_000 };
/** An attack takes a billion steps. A text of its length takes a millisecond otherwise. */
const attackMs = 200;

/** The sources whose regular expressions meet what strangers send. */
export function listSources(): string[] {
  return globSync('**/*.{js,mjs,ts,tsx}', { exclude: elsewhere }).sort();
}

/** The literals of a source, and the places in it at which `RegExp` is called. */
export function findExpressions(file: string): { literals: Expression[]; calls: string[] } {
  const { tokens } = parse(readFileSync(file, 'utf8'), {
    sourceType: 'module',
    plugins: ['typescript', ...(file.endsWith('x') ? (['jsx'] as const) : [])],
    tokens: true,
  });
  const placed = (tokens ?? []).map((token) => ({ ...token, place: `${file}:${token.loc.start.line}` }));
  return {
    literals: placed.flatMap(({ type, value, place }) =>
      type.label === 'regexp' ? [{ source: value.pattern, flags: value.flags, place }] : [],
    ),
    calls: placed.flatMap(({ value, place }, index) => (value === 'RegExp' && placed[index + 1]?.type.label === '(' ? [place] : [])),
  };
}

/** The expressions that modules make while they are loaded. */
export async function watchMade(files: string[]): Promise<Expression[]> {
  const made: Expression[] = [];
  // Loaded once before, so that their imports make nothing the second time.
  for (const file of files) await import(`../../../${file}`);
  const original = globalThis.RegExp;
  const note = ({ source, flags }: RegExp) => {
    const [, module, line] = /(file:[^\s?]+)\?watched:(\d+)/.exec(new Error().stack ?? '') ?? [];
    if (module !== undefined) made.push({ source, flags, place: `${relative('.', fileURLToPath(module))}:${line}` });
  };
  globalThis.RegExp = new Proxy(original, {
    construct(target, args, newTarget) {
      const expression = Reflect.construct(target, args, newTarget);
      note(expression);
      return expression;
    },
  });
  try {
    for (const file of files) await import(`../../../${file}?watched`);
  } finally {
    globalThis.RegExp = original;
  }
  return made;
}

/** What an attacker could send to each expression whose time grows faster than the text, or why that cannot be told: by place. */
export async function findSlow(expressions: Expression[]): Promise<string[]> {
  const verdicts = recall();
  const slow: string[] = [];
  for (const { source, flags, place } of expressions) {
    const key = createHash('sha256').update(`${flags} ${source}`).digest('base64url');
    verdicts[key] ??= await judge(source, flags);
    if (verdicts[key] !== 'safe') slow.push(`${place}: /${source}/${flags} ${verdicts[key]}`);
  }
  mkdirSync(dirname(memory), { recursive: true });
  writeFileSync(memory, JSON.stringify(verdicts));
  return slow;
}

function recall(): Record<string, string> {
  try {
    return JSON.parse(readFileSync(memory, 'utf8'));
  } catch {
    return {};
  }
}

async function judge(source: string, flags: string): Promise<string> {
  // A bounded repetition only multiplies the time, but its automaton is as large as its bound.
  const short = source.replace(/\{(\d{1,9})(,?)(\d{0,9})\}/g, (_all, least, comma, most) => `{${cut(least)}${comma}${most && cut(most)}}`);
  const plain = flags.includes('v') ? rewritePattern(short, flags, { unicodeSetsFlag: 'transform' }) : short;
  const found = await check(plain, flags.replace('v', 'u'), effort);
  if (found.status === 'unknown') return `cannot be judged: ${found.error.kind}`;
  return found.status === 'vulnerable' && takesLong(new RegExp(short, flags), found.attack.string) ? `by ${found.attack.pattern}` : 'safe';
}

/** Whether an attack succeeds here: the checker looks behind more slowly than Node does. */
function takesLong(expression: RegExp, text: string): boolean {
  try {
    runInNewContext('text.replace(expression, "")', { expression, text }, { timeout: attackMs });
    return false;
  } catch {
    return true;
  }
}

function cut(bound: string): number {
  return Math.min(Number(bound), 3);
}
