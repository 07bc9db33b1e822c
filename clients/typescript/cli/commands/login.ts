import type { Command } from 'commander';
import { SheafError } from '../../index.ts';
import { credentialsPath, isKey, removeCredentials, rootOf, storeCredentials } from '../credentials.ts';
import { exitCodes, Failure } from '../failure.ts';
import { askSecret } from '../prompt.ts';
import { connect, type Key } from '../run.ts';
import { createOutput, plain, type Terminal } from '../terminal.ts';

const noTwoFactor =
  'This user has two-factor, whose code is not asked for here. Make an API key in the console, and run `sheaf login` without --email.';

interface Options {
  url?: string;
  organization?: string;
  email?: string;
  json?: boolean;
}

/** `sheaf login`, which stores credentials, and `sheaf logout`, which removes them. */
export function addLogin(program: Command, terminal: Terminal): void {
  program
    .command('login')
    .description('Store an API key, which is asked for or read from stdin, for the commands that follow.')
    .option('--url <url>', 'the root of the service; by default SHEAF_URL, or http://localhost:3000')
    .option('--organization <id>', 'with --email: where the commands work; a key knows its own')
    .option('--email <address>', 'sign in as a user, with a password: for `keys` and `webhooks`, which no key may manage')
    .option('--json', 'print JSON')
    .action((options: Options) => login(terminal, options));
  program
    .command('logout')
    .description('Remove what `sheaf login` stored. A session is ended; a key stays good until it is revoked.')
    .option('--json', 'print JSON')
    .action((options: Options) => logout(terminal, options));
}

async function login(terminal: Terminal, { url: given, organization, email, json = false }: Options): Promise<void> {
  const { env, signal } = terminal;
  const url = rootOf(given ?? (env.SHEAF_URL || 'http://localhost:3000'));
  const token = email === undefined ? await askSecret(terminal, 'API key: ') : await signIn(terminal, url, email);
  const key = email === undefined ? await connect({ url, token }).apiKeys.current({}, { signal }) : undefined;
  const organizationId = key?.organizationId ?? organization ?? (env.SHEAF_ORGANIZATION || undefined);
  const path = await storeCredentials(env, { url, token, organizationId });
  const stored = { url, organizationId: organizationId ?? null, key: key ?? null, path };
  createOutput(terminal, json).show(stored, `Stored in ${path}.${key ? ` ${say(key)}` : ''}`);
}

function say({ name, workspaceId, permissions, expiresAt }: Key): string {
  const place = workspaceId === null ? 'every workspace' : `the workspace ${workspaceId}`;
  return `The key “${plain(name)}” reaches ${place}, until ${expiresAt ?? 'it is revoked'}. It may: ${permissions.join(', ')}.`;
}

async function signIn(terminal: Terminal, url: string, email: string): Promise<string> {
  const client = connect({ url });
  const credentials = { email, password: await askSecret(terminal, 'Password: ') };
  await client.auth.signIn(credentials, { signal: terminal.signal }).catch((error: unknown) => {
    throw error instanceof SheafError && error.code === 'TWO_FACTOR_CODE_NEEDED' ? new Failure(noTwoFactor, exitCodes.notAllowed) : error;
  });
  if (client.auth.token === undefined) throw new Failure('The service gave no session.', exitCodes.notAllowed);
  return client.auth.token;
}

async function logout(terminal: Terminal, { json = false }: Options): Promise<void> {
  const stored = await removeCredentials(terminal.env);
  const isSession = stored !== undefined && !isKey(stored.token);
  // The file is gone in any case; a session that cannot be ended ends by itself.
  if (isSession)
    await connect(stored)
      .auth.signOut({ signal: terminal.signal })
      .catch(() => undefined);
  const path = credentialsPath(terminal.env);
  createOutput(terminal, json).show({ path, removed: stored !== undefined }, stored ? `Removed ${path}.` : 'Nothing was stored.');
}
