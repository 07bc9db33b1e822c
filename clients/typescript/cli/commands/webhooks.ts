import type { Command } from 'commander';
import type { Contract, InputOf, OutputOf } from '../../index.ts';
import { forEachId } from '../each-id.ts';
import { addLeaf, choice, integer, several } from '../leaf.ts';
import { findOrganization, type Run, readPages } from '../run.ts';
import { plain, type Terminal } from '../terminal.ts';

type CreateEndpoint = InputOf<Contract['webhooks']['create']>;
type Delivery = OutputOf<Contract['webhooks']['delivery']>;

interface CreateOptions {
  event: CreateEndpoint['events'];
  description?: string;
  signature?: 'v1' | 'v1a';
}
interface DeliveryOptions {
  endpoint?: string;
  status?: Delivery['status'];
  limit: number;
}

/** `sheaf webhooks list|create|test|delete|deliveries|resend`. */
export function addWebhooks(program: Command, terminal: Terminal): void {
  const webhooks = program
    .command('webhooks')
    .description('Addresses that are told of events. A key may only read them: sign in with `--email`.');
  addLeaf(webhooks, terminal, {
    usage: 'list',
    description: 'List the endpoints of the organization.',
    action: async (run) => {
      const { client, output, terminal } = run;
      for (const endpoint of await client.webhooks.list({ organizationId: await findOrganization(run) }, { signal: terminal.signal })) {
        const { id, enabled, disabledReason, url, events } = endpoint;
        const state = enabled ? 'enabled' : `disabled${disabledReason ? ` (${disabledReason})` : ''}`;
        output.show(endpoint, `${id}  ${state}  ${plain(url)}  ${events.join(' ')}`);
      }
    },
  });
  addLeaf<CreateOptions>(webhooks, terminal, {
    usage: 'create <url>',
    description: 'Add an endpoint. Its secret is printed this once.',
    options: (command) =>
      command
        .requiredOption('--event <event>', 'such as job.succeeded; may be given several times', several)
        .option('--description <text>', 'what it is for')
        .addOption(choice('--signature <kind>', 'v1 by a shared secret, v1a by a public key', ['v1', 'v1a'])),
    action: create,
  });
  addLeaf(webhooks, terminal, {
    usage: 'test <id>',
    description: 'Send a test to an endpoint.',
    action: async ({ client, output, terminal: { signal } }, _options, [id = '']) => {
      const delivery = await client.webhooks.test({ id }, { signal });
      output.show(delivery, say(delivery));
    },
  });
  addLeaf(webhooks, terminal, {
    usage: 'delete <id...>',
    description: 'Delete endpoints.',
    action: async (run, _options, ids) => {
      const { client, output, terminal } = run;
      await forEachId(run, ids, 'deleted', async (id) =>
        output.show(await client.webhooks.delete({ id }, { signal: terminal.signal }), `Deleted ${id}.`),
      );
    },
  });
  addLeaf<DeliveryOptions>(webhooks, terminal, {
    usage: 'deliveries',
    description: 'List what was sent and what waits, newest first.',
    options: (command) =>
      command
        .option('--endpoint <id>', 'only those to this endpoint')
        .addOption(choice('--status <status>', 'only those with this status', ['pending', 'delivered', 'failed']))
        .option('--limit <number>', 'how many at the most', integer(1), 25),
    action: deliveries,
  });
  addLeaf(webhooks, terminal, {
    usage: 'resend <id...>',
    description: 'Send deliveries again.',
    action: async (run, _options, ids) => {
      const { client, output, terminal } = run;
      await forEachId(run, ids, 'sent again', async (id) => {
        const delivery = await client.webhooks.resend({ id }, { signal: terminal.signal });
        output.show(delivery, say(delivery));
      });
    },
  });
}

async function create(run: Run, { event: events, description, signature }: CreateOptions, [url = '']: string[]): Promise<void> {
  const { client, output, terminal } = run;
  const more = { ...(description ? { description } : {}), ...(signature ? { signature } : {}) };
  const endpoint = await client.webhooks.create(
    { organizationId: await findOrganization(run), url, events, ...more },
    { signal: terminal.signal },
  );
  output.note(`${endpoint.id} is verified with:`);
  output.show(endpoint, endpoint.secret ?? endpoint.publicKey ?? '');
}

async function deliveries(run: Run, { endpoint, status, limit }: DeliveryOptions): Promise<void> {
  const { client, output, terminal } = run;
  const filter = {
    organizationId: await findOrganization(run),
    limit: Math.min(limit, 100),
    ...(endpoint ? { endpointId: endpoint } : {}),
    ...(status ? { status } : {}),
  };
  const read = (cursor = {}) => client.webhooks.deliveries({ ...filter, ...cursor }, { signal: terminal.signal });
  for await (const delivery of readPages(limit, read)) output.show(delivery, say(delivery));
}

function say({ id, createdAt, status, event, error }: Delivery): string {
  return `${id}  ${createdAt}  ${status.padEnd(9)}  ${event}${error ? `  ${plain(error)}` : ''}`;
}
