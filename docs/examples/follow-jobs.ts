// Follows the jobs of an organization with EventSource, which reconnects by itself and goes on after the last event it saw.
// Run it until Ctrl-C: SHEAF_TOKEN=… SHEAF_ORGANIZATION=… sh ops/local/run.sh docs/examples/follow-jobs.ts
import { EventSource } from 'eventsource';
import type { JobEvent } from '../../clients/typescript/index.ts';

process.on('uncaughtException', ({ message }) => {
  console.error(message);
  process.exit(1);
});

const { SHEAF_URL = 'http://localhost:3000', SHEAF_TOKEN, SHEAF_ORGANIZATION } = process.env;
if (!SHEAF_TOKEN || !SHEAF_ORGANIZATION) throw new Error('Set SHEAF_TOKEN and SHEAF_ORGANIZATION.');

const jobs = new EventSource(`${SHEAF_URL}/api/v1/organizations/${SHEAF_ORGANIZATION}/jobs/stream`, {
  // An EventSource of a browser sends the session's cookie; here its requests carry a bearer token.
  async fetch(url, init) {
    const response = await fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${SHEAF_TOKEN}` } });
    // It gives up after any other status than 200, but connects again after an error.
    if (response.status === 429 || response.status >= 500) throw new Error(`The service is away (${response.status}).`);
    return response;
  },
});
// It lets the process end while it waits to connect again.
const running = setInterval(() => {}, 60_000);

jobs.addEventListener('open', () => console.log('connected'));

jobs.addEventListener('message', ({ data }) => {
  const job = JSON.parse(data) as JobEvent;
  const reason = job.error === null ? '' : `: ${job.error.message}`;
  console.log(`${job.updatedAt}  ${job.id}  ${job.kind} ${job.status}, attempt ${job.attempts} of ${job.maxAttempts}${reason}`);
});

jobs.addEventListener('error', ({ code, message }) => {
  if (jobs.readyState !== EventSource.CLOSED) return console.error('connecting again …');
  // The service refused the stream (401, 403, 404): asking again would not help.
  console.error(`The stream is refused: ${code ?? message}`);
  clearInterval(running);
  process.exitCode = 1;
});
