import { spawn } from 'node:child_process';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { inheritedEnvironment } from '../../../base/config/local.ts';
import { runCommand } from '../../../clients/typescript/cli/run-command.ts';
import type { Terminal } from '../../../clients/typescript/cli/terminal.ts';
import type { Tenant, TestApi } from '../../support/api.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { noteTokens } from '../../support/run-secrets.ts';

/** What a command has printed, and how it ended. */
interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Each line of stdout, as JSON. */
  readonly json: any[];
}

interface Running {
  child: ReturnType<typeof spawn>;
  ended: Promise<Ended>;
}

interface CliOptions {
  /** On top of the environment of the command line; `undefined` removes a variable. */
  env?: Record<string, string | undefined>;
  stdin?: string;
}

/** The command line of one user, with a directory of its own for what it stores. */
export interface Cli {
  directory: string;
  /** Starts a process, which may be ended. */
  start(args: string[], options?: CliOptions): Running;
  run(args: string[], options?: CliOptions): Promise<Ended>;
  remove(): void;
}

/** The command line as a program without a terminal. */
export function createCli(env: Record<string, string> = {}): Cli {
  const directory = makeTestDirectory();
  const own = { XDG_CONFIG_HOME: `${directory}/config`, SHEAF_URL: undefined, SHEAF_API_KEY: undefined, SHEAF_ORGANIZATION: undefined };
  const start = (args: string[], options: CliOptions = {}) =>
    startProgram(process.execPath, ['clients/typescript/cli/main.ts', ...args], { ...own, ...env, ...options.env }, options.stdin);
  const run = (args: string[], options: CliOptions = {}) => runHere(args, { ...own, ...env, ...options.env }, options.stdin);
  return { directory, start, run, remove: () => removeTestDirectory(directory) };
}

/** A command in this process, which takes a tenth of the time of one of its own. */
async function runHere(args: string[], env: Record<string, string | undefined>, stdin = ''): Promise<Ended> {
  noteTokens(env.SHEAF_API_KEY, stdin);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const streams = { stdin: Readable.from([stdin]), stdout, stderr } as unknown as Terminal;
  const code = await runCommand(args, { ...streams, env: { ...inheritedEnvironment(), ...env }, signal: new AbortController().signal });
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { code, stdout: out, stderr: err, json: jsonLines(out) };
}

/** The environment by which a command acts as the owner of a tenant. */
export function asOwner(api: TestApi, { owner, organizationId }: Tenant): Record<string, string> {
  return { SHEAF_URL: api.url, SHEAF_API_KEY: owner.token, SHEAF_ORGANIZATION: organizationId };
}

export function startProgram(command: string, args: string[], env: Record<string, string | undefined>, stdin?: string): Running {
  noteTokens(env.SHEAF_API_KEY, stdin);
  const child = spawn(command, args, { env: { ...inheritedEnvironment(), ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  child.stdin.on('error', () => undefined).end(stdin ?? '');
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr, json: jsonLines(stdout) }));
  });
  return { child, ended };
}

function jsonLines(text: string): any[] {
  if (!/^[{[]/.test(text)) return [];
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
