import { type Client, type ClientOptions, type Contract, createClient, type OutputOf, type RetryOptions } from '../index.ts';
import { toRetries } from '../retry.ts';
import { isKey, readCredentials } from './credentials.ts';
import { exitCodes, Failure } from './failure.ts';
import type { Output, Terminal } from './terminal.ts';
import { createWait } from './wait.ts';

/** What a key says of itself. */
export type Key = OutputOf<Contract['apiKeys']['current']>;

/** What a command works with. */
export interface Run {
  terminal: Terminal;
  output: Output;
  client: Client;
  /** Those of the client. */
  retries: RetryOptions;
  /** The organization that the command, the environment or the stored credentials name; undefined without any. */
  organization: string | undefined;
  /** Asks, once, for the key that the command calls with; undefined if that is a session. */
  findKey(): Promise<Key | undefined>;
}

/** The options that every command has which calls the service. */
export interface CommonOptions {
  json?: boolean;
  organization?: string;
}

/** The waits of a call together take about a minute, and a restart of the service less. */
const patientRetries = { attempts: 12 };

/** Prepares a command: reads the credentials and makes the client, one that waits for the service if it is `patient`. Throws Failure. */
export async function prepareRun(
  terminal: Terminal,
  output: Output,
  { organization, patient = false }: CommonOptions & { patient?: boolean | undefined },
): Promise<Run> {
  const { url, token, organizationId } = await readCredentials(terminal.env);
  const retries = toRetries({ ...(patient ? patientRetries : {}), wait: createWait(terminal) });
  const client = connect({ url, token, retries });
  let key: Promise<Key> | undefined;
  return {
    terminal,
    output,
    client,
    retries,
    organization: organization ?? organizationId,
    async findKey() {
      if (!isKey(token)) return undefined;
      key ??= client.apiKeys.current({}, { signal: terminal.signal });
      return await key;
    },
  };
}

/** A client. Throws Failure if the url or the token, which the user has given, cannot be used. */
export function connect(options: ClientOptions): Client {
  try {
    return createClient(options);
  } catch (error) {
    throw new Failure((error as Error).message, exitCodes.misunderstood);
  }
}

/** The organization of a command: the one that is named, or else the one of its key. Throws Failure without either. */
export async function findOrganization({ organization, findKey }: Run): Promise<string> {
  const id = organization ?? (await findKey())?.organizationId;
  if (id === undefined)
    throw new Failure(
      'Which organization? Name it with --organization or SHEAF_ORGANIZATION. Only an API key names its own, and begins with sheaf_.',
      exitCodes.misunderstood,
    );
  return id;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id of the workspace that is given by its id or slug, or else of the only one that the key reaches; undefined without either. */
export async function findWorkspace(run: Run, idOrSlug: string | undefined): Promise<string | undefined> {
  if (idOrSlug === undefined) return (await run.findKey())?.workspaceId ?? undefined;
  if (uuid.test(idOrSlug)) return idOrSlug;
  const { client, terminal } = run;
  const workspace = { organizationId: await findOrganization(run), slug: idOrSlug };
  return (await client.workspaces.get(workspace, { signal: terminal.signal })).id;
}

/** The same for a command that needs one: throws Failure without it. */
export async function requireWorkspace(run: Run, idOrSlug: string | undefined): Promise<string> {
  const id = await findWorkspace(run, idOrSlug);
  if (id === undefined) throw new Failure('Which workspace? Name it with --workspace, by its id or slug.', exitCodes.misunderstood);
  return id;
}

interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** The items of a list, page by page, at most `limit` of them. */
export async function* readPages<T>(limit: number | undefined, read: (cursor?: { cursor: string }) => Promise<Page<T>>): AsyncGenerator<T> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  let cursor: string | null = null;
  do {
    const page: Page<T> = await read(cursor === null ? undefined : { cursor });
    for (const item of page.items.slice(0, left)) yield item;
    left -= page.items.length;
    cursor = page.nextCursor;
  } while (cursor !== null && left > 0);
}
