import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { exitCodes, Failure } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** Where the service is, and as whom it is called. */
interface Credentials {
  url: string;
  /** An API key, or the token of a session. */
  token: string;
  organizationId: string | undefined;
}

type Env = Terminal['env'];

/** Whether a token is an API key, and not that of a session. */
export function isKey(token: string): boolean {
  return token.startsWith('sheaf_');
}

/** The root of a service without a slash at its end, by which services are told apart. */
export function rootOf(url: string): string {
  return url.replace(/(?<!\/)\/+$/, '');
}

/** The file that `sheaf login` writes: below `XDG_CONFIG_HOME`, or `~/.config`. */
export function credentialsPath(env: Env): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'sheaf', 'credentials.json');
}

/**
 * The credentials of a command: those of the environment, then those of the file. A stored token is only ever sent to the service that it
 * was stored for. Throws Failure if there are none.
 */
export async function readCredentials(env: Env): Promise<Credentials> {
  const stored = await readStored(env);
  const url = env.SHEAF_URL ? rootOf(env.SHEAF_URL) : stored?.url;
  const isStored = stored !== undefined && url === stored.url;
  const token = env.SHEAF_API_KEY || (isStored ? stored.token : undefined);
  if (url === undefined) throw notSignedIn('Not signed in: run `sheaf login`, or set SHEAF_URL and SHEAF_API_KEY.');
  if (token === undefined) throw notSignedIn(`There is no key for ${url}: run \`sheaf login\`, or set SHEAF_API_KEY.`);
  const organizationId = env.SHEAF_ORGANIZATION || (isStored && !env.SHEAF_API_KEY ? stored.organizationId : undefined);
  return { url, token, organizationId };
}

/** Replaces the file in one step, so that a crash leaves the old one or the new one. Nobody else may read it. */
export async function storeCredentials(env: Env, credentials: Credentials): Promise<string> {
  const path = credentialsPath(env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}`;
  await writeFile(fresh, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(fresh, path);
  return path;
}

/** Removes the file. Returns what it held; undefined if there was none. */
export async function removeCredentials(env: Env): Promise<Credentials | undefined> {
  const stored = await readStored(env);
  await rm(credentialsPath(env), { force: true });
  return stored;
}

async function readStored(env: Env): Promise<Credentials | undefined> {
  const path = credentialsPath(env);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Failure(`${path} cannot be read: ${error.message}`);
  });
  if (text === undefined) return undefined;
  try {
    const { url, token, organizationId } = JSON.parse(text) as Partial<Credentials>;
    if (typeof url === 'string' && typeof token === 'string') return { url, token, organizationId };
  } catch {
    // Said below.
  }
  throw new Failure(`${path} does not hold credentials. Remove it, and run \`sheaf login\`.`);
}

function notSignedIn(message: string): Failure {
  return new Failure(message, exitCodes.notAllowed);
}
