// `npm run demo -- [FILE…]`: the main job on the user's files or the samples, against the service that runs here or one started for it.
import { loadDemoConfig } from '../config/demo.ts';
import { inheritedEnvironment, loadLocalConfig } from '../config/local.ts';
import { Display } from './demo-display.ts';
import { type DemoFile, inspectFile, samplePaths } from './demo-files.ts';
import { type DemoOptions, help, parseOptions, UsageError } from './demo-options.ts';
import { report, toJson } from './demo-report.ts';
import { type DemoResult, runDemo } from './demo-run.ts';
import { type DemoService, openService } from './demo-service.ts';
import { StopRequest } from './stop-request.ts';

const interruptedCode = 130;
const usageCode = 2;

const stopRequest = new StopRequest();
try {
  process.exitCode = await main(parseOptions(process.argv.slice(2)));
} catch (error) {
  process.exitCode = fail(error);
}
stopRequest.forget();

async function main(options: DemoOptions): Promise<number> {
  if (options.help) {
    process.stdout.write(help);
    return 0;
  }
  const stream = options.json ? process.stderr : process.stdout;
  const display = new Display(stream);
  const samples = options.files.length === 0;
  const { files, bad } = inspectFiles(samples ? samplePaths() : options.files, display);
  if (files.length === 0) {
    if (options.json)
      process.stdout.write(toJson({ documents: [], jobs: [], searches: [], creditsUsed: 0 }, { workflowUrl: () => undefined }));
    return 1;
  }
  stopRequest.signal.addEventListener('abort', () => display.line('\nStopping …', 0));
  const crashed = new AbortController();
  const signal = AbortSignal.any([stopRequest.signal, crashed.signal]);
  const environment = inheritedEnvironment();
  const service = await openService({
    demo: loadDemoConfig(environment),
    local: loadLocalConfig(environment),
    display,
    stream,
    signal,
    onCrash: (error) => crashed.abort(error),
  });
  let result: DemoResult;
  try {
    display.line(`\nSheaf ${service.version} at ${service.url}`, 0);
    result = await runDemo({ service, files, queries: options.queries, samples, display, signal });
    if (options.json) process.stdout.write(toJson(result, service));
    else report(result, service, display);
  } finally {
    await stop(service, display);
  }
  return result.ok && !bad ? 0 : 1;
}

function inspectFiles(paths: string[], display: Display): { files: DemoFile[]; bad: boolean } {
  const files: DemoFile[] = [];
  for (const path of paths) {
    try {
      files.push(inspectFile(path));
    } catch (error) {
      display.problem(path, (error as Error).message);
    }
  }
  return { files, bad: files.length < paths.length };
}

async function stop(service: DemoService, display: Display): Promise<void> {
  if (service.own && !stopRequest.requested)
    display.line('\nStopping the service of this demo. `npm start` starts one with the same data:\nthe links work while it runs.', 0);
  await service.stop();
}

function fail(error: unknown): number {
  if (stopRequest.requested) return interruptedCode;
  if (error instanceof UsageError) {
    console.error(`${error.message}. See npm run demo -- --help`);
    return usageCode;
  }
  // These are told to the user; anything else is a fault of the program, and its place helps.
  const expected = error instanceof Error && !(error instanceof TypeError) && error.name !== 'ZodError';
  console.error(expected ? `\n${error.message}` : error);
  return 1;
}
