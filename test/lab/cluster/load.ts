// `node load.ts URL [JOBS]`: a user who follows the stream of jobs, asks for a list five times a second, and starts a job, or JOBS, each second,
// until the standard input ends. Then it prints how many requests there were, those that failed, the jobs that were accepted, and how often the
// stream was opened. No request is sent twice.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

export interface LoadReport {
  requests: number;
  failed: string[];
  jobs: string[];
  streams: number;
  /** The client's, as its session has it. */
  address: string;
}

const [url = '', jobsEachSecond = '1'] = process.argv.slice(2);
const report: LoadReport = { requests: 0, failed: [], jobs: [], streams: 0, address: '' };
let token = '';

async function send(method: string, path: string, body?: object): Promise<any> {
  const headers = {
    ...{ 'content-type': 'application/json', authorization: `Bearer ${token}`, 'idempotency-key': randomUUID() },
    // As if it came from elsewhere, which the ingress must not let through.
    'x-forwarded-for': '203.0.113.9',
  };
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
const [session] = await send('GET', 'auth/list-sessions');
report.address = session.ipAddress;
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
const stopped = new AbortController();
process.stdin.on('end', () => stopped.abort()).resume();
console.log('started');
const reader = async () => {
  for (; !stopped.signal.aborted; await delay(200)) await count(() => send('GET', `v1/organizations/${organization.id}/jobs?limit=10`));
};
const starter = async () => {
  for (; !stopped.signal.aborted; await delay(1_000)) await count(async () => report.jobs.push((await send('POST', 'v1/jobs', job)).id));
};
const follower = async () => {
  for (; !stopped.signal.aborted; await delay(1_000)) {
    report.streams++;
    const headers = { authorization: `Bearer ${token}` };
    const options = { headers, signal: stopped.signal };
    const stream = fetch(`${url}/api/v1/organizations/${organization.id}/jobs/stream`, options).then((response) => response.text());
    await stream.catch(() => {});
  }
};
await Promise.all([reader(), follower(), ...Array.from({ length: Number(jobsEachSecond) }, starter)]);
console.log(JSON.stringify(report));
