import type { Command } from 'commander';
import type { Contract, InputOf, OutputOf } from '../../index.ts';
import { forEachId } from '../each-id.ts';
import { addLeaf, integer, several } from '../leaf.ts';
import { findOrganization, findWorkspace, type Run } from '../run.ts';
import { plain, type Terminal } from '../terminal.ts';

type CreateKey = InputOf<Contract['apiKeys']['create']>;
type Key = OutputOf<Contract['apiKeys']['list']>[number];

interface CreateOptions {
  permission: CreateKey['permissions'];
  workspace?: string;
  days?: number | 'never';
  rate?: number;
}

/** `sheaf keys list|create|rotate|revoke`: for a user who signed in, since no key may manage keys. */
export function addKeys(program: Command, terminal: Terminal): void {
  const keys = program.command('keys').description('API keys. Sign in with `sheaf login --email` first: no key may manage keys.');
  addLeaf(keys, terminal, {
    usage: 'list',
    description: 'List the keys of the organization.',
    action: async (run) => {
      const { client, output, terminal } = run;
      const organizationId = await findOrganization(run);
      for (const key of await client.apiKeys.list({ organizationId }, { signal: terminal.signal })) output.show(key, say(key));
    },
  });
  addLeaf<CreateOptions>(keys, terminal, {
    usage: 'create <name>',
    description: 'Make a key. Its secret is printed this once.',
    options: (command) =>
      command
        .requiredOption('--permission <permission>', 'such as document:read; may be given several times', several)
        .option('--workspace <id>', 'the only workspace that it reaches: its id or slug')
        .option('--days <number>', 'how long it lives, or `never` for one that does not expire; 90 if you do not say', lifetime)
        .option('--rate <number>', 'requests a minute; 600 if you do not say', integer(1)),
    action: create,
  });
  addLeaf<{ overlapSeconds?: number }>(keys, terminal, {
    usage: 'rotate <id>',
    description: 'Give a key a new secret, which is printed this once.',
    options: (command) =>
      command.option('--overlap-seconds <number>', 'how long the present one stays good; a day if you do not say', integer(0)),
    action: async ({ client, output, terminal: { signal } }, { overlapSeconds }, [id = '']) => {
      const key = await client.apiKeys.rotate({ id, ...(overlapSeconds === undefined ? {} : { overlapSeconds }) }, { signal });
      output.show(key, key.secret);
    },
  });
  addLeaf(keys, terminal, {
    usage: 'revoke <id...>',
    description: 'End keys at once.',
    action: async (run, _options, ids) => {
      const { client, output, terminal } = run;
      await forEachId(run, ids, 'revoked', async (id) =>
        output.show(await client.apiKeys.revoke({ id }, { signal: terminal.signal }), `Revoked ${id}.`),
      );
    },
  });
}

async function create(run: Run, { permission, workspace, days, rate }: CreateOptions, [name = '']: string[]): Promise<void> {
  const { client, output, terminal } = run;
  const workspaceId = await findWorkspace(run, workspace);
  const key = await client.apiKeys.create(
    {
      organizationId: await findOrganization(run),
      name,
      permissions: permission,
      ...(workspaceId ? { workspaceId } : {}),
      ...(days === undefined ? {} : { expiresInDays: days === 'never' ? null : days }),
      ...(rate ? { requestsPerMinute: rate } : {}),
    },
    { signal: terminal.signal },
  );
  output.note(`${key.id} is shown this once:`);
  output.show(key, key.secret);
}

function lifetime(text: string): number | 'never' {
  return text === 'never' ? text : integer(1)(text);
}

function say({ id, prefix, status, expiresAt, lastUsedAt, name }: Key): string {
  const until = `expires ${expiresAt ?? 'never'}`.padEnd(32);
  return `${id}  ${prefix}…  ${status.padEnd(9)}  ${until}  used ${lastUsedAt ?? 'never'}  ${plain(name)}`;
}
