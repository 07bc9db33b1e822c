// Signs up, uploads a Markdown file, indexes it, and prints the three passages that come closest to a question.
// Run it beside `npm start`: sh ops/local/run.sh docs/examples/upload-and-search.ts docs/examples/samples/beekeeping-notes.md "counting mites"
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { createClient } from '../../clients/typescript/index.ts';

process.on('uncaughtException', ({ message }) => {
  console.error(message);
  process.exit(1);
});

const [path, query] = process.argv.slice(2);
if (path === undefined || query === undefined) throw new Error('Usage: upload-and-search.ts FILE QUESTION');

const client = createClient({ url: process.env.SHEAF_URL ?? 'http://localhost:3000' });
const name = `example-${crypto.randomUUID()}`;
await client.auth.signUp({ name: 'Ada', email: `${name}@example.com`, password: crypto.randomUUID() });
const organization = await client.auth.createOrganization({ name: 'Ada', slug: name });
const workspace = await client.workspaces.create({ organizationId: organization.id, name: 'Notes', slug: 'notes' });

const document = await client.uploadDocument({
  workspaceId: workspace.id,
  name: basename(path),
  contentType: 'text/markdown',
  file: await openAsBlob(path).catch(() => Promise.reject(new Error(`${path} cannot be read.`))),
});
const { id } = await client.jobs.create({ kind: 'document.index', documentId: document.id, once: true });
await client.waitForJob(id, { signal: AbortSignal.timeout(120_000) });

const { results } = await client.documents.search({ workspaceId: workspace.id, query, mode: 'hybrid', limit: 3 });
for (const { documentName, score, text } of results) console.log(`${score?.toFixed(3)}  ${documentName}\n${text}\n`);

// For the other examples, which work on an organization that is there.
console.log(`SHEAF_TOKEN=${client.auth.token}\nSHEAF_ORGANIZATION=${organization.id}`);
