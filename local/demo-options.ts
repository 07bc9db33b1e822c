import { parseArgs } from 'node:util';

/** What the command line asks for. */
export interface DemoOptions {
  /** Paths as given; none means the documents in `samples/`. */
  files: string[];
  /** Searches to run; none means those that fit the documents. */
  queries: string[];
  json: boolean;
  help: boolean;
}

/** The command line is not one of the demo's. */
export class UsageError extends Error {}

export const help = `Usage: npm run demo -- [--json] [--query TEXT]… [FILE…]

Shows the service at work on FILEs: signs up a new user, uploads each file
through its signed target, extracts, summarizes and indexes it, follows the
jobs on their live stream, and searches. Without FILE it takes the documents in
samples/.

  --query TEXT   search for TEXT; may be given several times. Otherwise
                 samples/queries.json, or the first sentence of each summary
  --json         print one JSON object on standard output, and nothing else
  --help         print this

Uses the service that runs on this machine (npm start), or starts one and stops
it at the end; it then keeps its data in DATA_DIR, as npm start does.

  SHEAF_URL        another service, such as https://sheaf.example.com
  TEMPORAL_UI_URL  where its workflows are seen

A file that cannot be used is named on standard error and the others still
run; the exit code is then 1.
`;

/** Reads the arguments of the command line. Throws {@link UsageError}. */
export function parseOptions(args: string[]): DemoOptions {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' }, query: { type: 'string', multiple: true } },
    });
    const queries = (values.query ?? []).map(toQuery);
    if (queries.includes('')) throw new UsageError('--query needs a text to search for');
    return { files: positionals, queries, json: values.json ?? false, help: values.help ?? false };
  } catch (error) {
    // The rest of the message speaks of the shell.
    throw error instanceof UsageError ? error : new UsageError((error as Error).message.split('. ', 1)[0]);
  }
}

/** A text as a search query: one line of at most 1,000 characters (spec §8). */
export function toQuery(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Z}]+/gu, ' ').trim();
  return [...line].slice(0, 1000).join('');
}
