import { type Client, createClient } from '../client/index.ts';
import { readCredentials } from './credentials.ts';
import { exitCodes, Failure } from './failure.ts';
import type { Output, Terminal } from './terminal.ts';

/** What a command works with. */
export interface Run {
  terminal: Terminal;
  output: Output;
  client: Client;
  /** The organization of the command. Throws Failure if none is known. */
  organizationId: string;
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
  const { url, token, organizationId = '' } = await readCredentials(terminal.env);
  return {
    terminal,
    output,
    client: createClient({ url, token, retries: patient ? patientRetries : undefined }),
    get organizationId() {
      const id = organization ?? organizationId;
      if (id === '') throw new Failure('Which organization? Name it with --organization or SHEAF_ORGANIZATION.', exitCodes.misunderstood);
      return id;
    },
  };
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id of a workspace that is given by its id or its slug. */
export async function findWorkspace({ client, organizationId, terminal: { signal } }: Run, idOrSlug: string): Promise<string> {
  if (uuid.test(idOrSlug)) return idOrSlug;
  return (await client.workspaces.get({ organizationId, slug: idOrSlug }, { signal })).id;
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
