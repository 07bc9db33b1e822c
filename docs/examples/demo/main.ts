// `npm run demo -- [FILE…]`: takes the user's files, or the samples, through the service that runs here or one started for it.
import { globSync, readFileSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { contentTypeOf, createClient } from '../../../clients/typescript/index.ts';
import { type SearchMode, searchModes } from '../../../contract/document-search.ts';
import { StopRequest } from '../../../ops/local/stop-request.ts';
import { runBillingDemo } from './billing.ts';
import { startBillingService } from './billing-service.ts';
import { report, reportAll, reportConsole, reportKeyCommand, toJson } from './report.ts';
import { briefQuestions, runDemo } from './run.ts';
import { Screen } from './screen.ts';
import { openService } from './service.ts';

const help = `Usage: npm run demo -- [--verbose] [--json] [--query TEXT]… [--mode MODE] [FILE…]
       npm run demo -- --billing [--json]

Signs up a new user, uploads each FILE through its signed target, extracts,
summarizes and indexes it, follows the jobs on their live stream, and searches.
Without FILE it takes the documents in samples/.

  --query TEXT   search for TEXT; may be given several times. Otherwise
                 docs/examples/samples/queries.json, or the first sentence of each summary
  --mode MODE    what searches compare: semantic (meaning), lexical (words) or
                 hybrid (both, the default)
  --verbose      each upload and job, the summaries, all questions of the
                 samples with three passages each, a link for each job
  --billing      buys a plan, uses it up, is refused, and upgrades, at a
                 stand-in of Stripe: needs no account. Always starts a
                 service of its own, with its data in DATA_DIR/billing-demo
  --json         print one JSON object on standard output, and nothing else
  --help         print this

Uses the service that runs on this machine (npm start), or starts one and stops
it at the end; it then keeps its data in DATA_DIR, as npm start does.

  SHEAF_URL        another service, such as https://sheaf.example.com
  TEMPORAL_UI_URL  where its workflows are seen

A file that cannot be used is named on standard error and the others still
run; the exit code is then 1.
`;
const nothing = { documents: [], jobs: [], search: [], creditsUsed: 0 };
const noPages = { job: () => undefined, organization: () => undefined };
const sampleQueries: { query: string }[] = JSON.parse(readFileSync('docs/examples/samples/queries.json', 'utf8'));
const options = {
  json: { type: 'boolean' },
  verbose: { type: 'boolean', short: 'v' },
  billing: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  query: { type: 'string', multiple: true },
  mode: { type: 'string' },
} as const;

class UsageError extends Error {}

const stopRequest = new StopRequest();
try {
  process.exitCode = await main(parse(process.argv.slice(2)));
} catch (error) {
  process.exitCode = fail(error);
}
stopRequest.forget();

async function main({
  positionals,
  mode,
  values: { help: wantsHelp, billing, json, verbose = false, query = [] },
}: ReturnType<typeof parse>): Promise<number> {
  if (wantsHelp) return print(help, 0);
  const screen = new Screen(json ? process.stderr : process.stdout);
  if (billing) return await showBilling(screen, json);
  const isSample = positionals.length === 0;
  const paths = isSample ? globSync('docs/examples/samples/*.{csv,html,md,pdf,png,txt}').sort() : positionals;
  const files = paths.filter((path) => isUsable(path, screen));
  if (files.length === 0) return print(json ? toJson(nothing, noPages, verbose) : '', 1);
  stopRequest.signal.addEventListener('abort', () => screen.line('\nStopping …', 0));
  const { service, signal } = await openService(screen, stopRequest.signal);
  try {
    screen.line(`\nSheaf ${service.version} at ${service.url}`, 0);
    const samples = sampleQueries.slice(0, verbose || json ? undefined : briefQuestions).map((sample) => sample.query);
    const queries = query.length > 0 || !isSample ? query : samples;
    const result = await runDemo(createClient({ url: service.url }), { files, queries, mode, verbose, screen, signal });
    if (json) print(toJson(result, service.pages, verbose));
    else if (result.documents.length > 0) {
      (verbose ? reportAll : report)(result, service.pages, screen);
      await reportConsole(service.url, result, screen);
      reportKeyCommand(service.url, result, screen);
    }
    return result.ok && files.length === paths.length ? 0 : 1;
  } finally {
    screen.status('');
    if (service.stop && !stopRequest.requested)
      screen.line('\nStopping the service. Under `npm start` it has the same data, and the links work.', 0);
    await service.stop?.();
  }
}

async function showBilling(screen: Screen, json: boolean | undefined): Promise<number> {
  const service = await startBillingService(screen, stopRequest.signal);
  try {
    screen.line(`\nSheaf ${service.version} at ${service.url}`, 0);
    const steps = await runBillingDemo(service, screen);
    if (json) print(`${JSON.stringify({ steps }, undefined, 2)}\n`);
    return 0;
  } finally {
    await service.stop();
  }
}

function parse(args: string[]) {
  try {
    const parsed = parseArgs({ args, options, allowPositionals: true });
    const { billing, query, verbose, mode = 'hybrid' } = parsed.values;
    if (billing && (query || parsed.values.mode !== undefined || verbose || parsed.positionals.length > 0))
      throw new Error('--billing takes no files, no --query, no --mode and no --verbose');
    if (query?.some((text) => text.trim() === '')) throw new Error('--query needs a text to search for');
    if (!isSearchMode(mode)) throw new Error(`--mode must be one of ${searchModes.join(', ')}`);
    return { ...parsed, mode };
  } catch (error) {
    // The rest of the message is about quoting in shells.
    throw new UsageError(`${(error as Error).message.split('. ', 1)[0]}. See npm run demo -- --help`);
  }
}

function isSearchMode(name: string): name is SearchMode {
  return searchModes.some((mode) => mode === name);
}

/** Checks a file before anything is sent, and reports what is wrong with it. */
function isUsable(path: string, screen: Screen): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  const problems = {
    'there is no such file': !stats,
    'this is not a file': stats && !stats.isFile(),
    'files of this type are not taken: PDF, text, Markdown, CSV, HTML, JSON, PNG, JPEG, WebP and TIFF are, and what EXTRA_CONTENT_TYPES names':
      !contentTypeOf(path),
    'the file is empty': stats?.size === 0,
  };
  const problem = Object.entries(problems).find(([, isSo]) => isSo)?.[0];
  if (problem !== undefined) screen.problem(path, problem);
  return problem === undefined;
}

function print(text: string, exitCode = 0): number {
  process.stdout.write(text);
  return exitCode;
}

function fail(error: unknown): number {
  if (stopRequest.requested) return 130;
  // A message for the user. Any other error is a fault of the program, and needs its stack.
  const expected = error instanceof Error && !(error instanceof TypeError) && error.name !== 'ZodError';
  console.error(expected ? `\n${error.message}` : error);
  return error instanceof UsageError ? 2 : 1;
}
