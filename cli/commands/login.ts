import type { Command } from 'commander';
import { createClient, SheafError } from '../../client/index.ts';
import { credentialsPath, removeCredentials, storeCredentials } from '../credentials.ts';
import { exitCodes, Failure } from '../failure.ts';
import { askSecret } from '../prompt.ts';
import { createOutput, type Terminal } from '../terminal.ts';

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
    .option('--organization <id>', 'the organization of the key, as its maker saw it')
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
  const output = createOutput(terminal, json);
  const url = (given ?? (env.SHEAF_URL || 'http://localhost:3000')).replace(/\/+$/, '');
  const organizationId = organization ?? (env.SHEAF_ORGANIZATION || undefined);
  const token = email === undefined ? await askSecret(terminal, 'API key: ') : await signIn(terminal, url, email);
  const client = createClient({ url, token });
  const seen = organizationId === undefined ? undefined : await client.workspaces.list({ organizationId }, { signal }).catch(refusedOnly);
  if (organizationId === undefined) await client.system.health({}, { signal });
  if (organizationId !== undefined && !seen)
    output.note('This key may not list the workspaces of this organization. If that is not what you want, look at both.');
  const path = await storeCredentials(env, { url, token, organizationId });
  const workspaces = seen?.map(({ id, slug }) => ({ id, slug })) ?? null;
  const names = workspaces?.map(({ slug }) => slug).join(', ');
  output.show(
    { url, organizationId: organizationId ?? null, workspaces, path },
    `Stored in ${path}.${names ? ` Workspaces: ${names}.` : ''}`,
  );
}

/** A key may lack the permission to list workspaces, and be good for its work. */
function refusedOnly(error: unknown): undefined {
  if (!(error instanceof SheafError && error.status === 403)) throw error;
}

async function signIn(terminal: Terminal, url: string, email: string): Promise<string> {
  const client = createClient({ url });
  await client.auth.signIn({ email, password: await askSecret(terminal, 'Password: ') }, { signal: terminal.signal });
  if (client.auth.token === undefined) throw new Failure('The service gave no session.', exitCodes.notAllowed);
  return client.auth.token;
}

async function logout(terminal: Terminal, { json = false }: Options): Promise<void> {
  const stored = await removeCredentials(terminal.env);
  const isSession = stored !== undefined && !stored.token.startsWith('sheaf_');
  // The file is gone in any case; a session that cannot be ended ends by itself.
  if (isSession)
    await createClient(stored)
      .auth.signOut({ signal: terminal.signal })
      .catch(() => undefined);
  const path = credentialsPath(terminal.env);
  createOutput(terminal, json).show({ path, removed: stored !== undefined }, stored ? `Removed ${path}.` : 'Nothing was stored.');
}
