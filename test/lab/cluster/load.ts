// `node load.ts URL`: a user who asks for a list five times a second, and starts a job each second, until the standard input ends. Then it prints
// how many requests there were, those that failed, and the jobs that were accepted. No request is sent twice.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

export interface LoadReport {
  requests: number;
  failed: string[];
  jobs: string[];
}

const [url = ''] = process.argv.slice(2);
const report: LoadReport = { requests: 0, failed: [], jobs: [] };
let token = '';

async function send(method: string, path: string, body?: object): Promise<any> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'idempotency-key': randomUUID() };
  const signal = AbortSignal.timeout(30_000);
  const response = await fetch(`${url}/api/${path}`, { method, headers, signal, body: JSON.stringify(body) });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  token = response.headers.get('set-auth-token') ?? token;
  return await response.json();
}

async function count(work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  report.requests++;
  await work().catch((error: Error) => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    report.failed.push(`${new Date().toISOString()} after ${seconds} s: ${error.cause ?? error.message}`);
  });
}

const name = `load-${randomUUID()}`;
await send('POST', 'auth/sign-up/email', { name, email: `${name}@example.com`, password: 'a long password' });
const organization = await send('POST', 'auth/organization/create', { name, slug: name });
const scope = { organizationId: organization.id };
const workspace = await send('POST', 'v1/workspaces', { ...scope, name, slug: 'load' });
const job = {
  ...scope,
  workspaceId: workspace.id,
  kind: 'text.summarize',
  text: 'The tide turns at noon. The ferry waits.',
  maxSentences: 1,
};
let stopping = false;
process.stdin.on('end', () => (stopping = true)).resume();
console.log('started');
const reader = async () => {
  for (; !stopping; await delay(200)) await count(() => send('GET', `v1/organizations/${organization.id}/jobs?limit=10`));
};
const starter = async () => {
  for (; !stopping; await delay(1_000)) await count(async () => report.jobs.push((await send('POST', 'v1/jobs', job)).id));
};
await Promise.all([reader(), starter()]);
console.log(JSON.stringify(report));
