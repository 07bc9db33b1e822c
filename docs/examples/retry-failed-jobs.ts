// Finds the failed jobs of an organization, with one error code if one is given, and retries those that nobody has retried yet.
// Run it: SHEAF_TOKEN=… SHEAF_ORGANIZATION=… sh ops/local/run.sh docs/examples/retry-failed-jobs.ts ai_unreachable
import { createClient, SheafError } from '../../clients/typescript/index.ts';

process.on('uncaughtException', (error) => {
  // Each retry is charged; the others wait until there are credits again.
  const isLimit = error instanceof SheafError && error.is('LIMIT_REACHED');
  console.error(isLimit ? `The plan ${error.data.plan} allows no more.` : error.message);
  process.exit(1);
});

const { SHEAF_URL = 'http://localhost:3000', SHEAF_TOKEN, SHEAF_ORGANIZATION } = process.env;
if (!SHEAF_TOKEN || !SHEAF_ORGANIZATION) throw new Error('Set SHEAF_TOKEN and SHEAF_ORGANIZATION.');
const [errorCode] = process.argv.slice(2);
const client = createClient({ url: SHEAF_URL, token: SHEAF_TOKEN });

const failed = await findFailedJobs(SHEAF_ORGANIZATION);
console.log(`failed and not retried yet: ${failed.length}`);
for (const { id, kind, error } of failed) {
  const retry = await client.jobs.retry({ id });
  console.log(`${kind} ${id} (${error?.code}) is retried as ${retry.id}`);
}

async function findFailedJobs(organizationId: string) {
  const found = [];
  const retried = new Set<string | undefined>();
  let cursor: string | undefined;
  do {
    const page = await client.jobs.list({ organizationId, limit: 100, cursor });
    // The newest come first, so a retry is seen before the job that it retries.
    for (const job of page.items) {
      retried.add(job.input.retryOf);
      if (job.status === 'failed' && !retried.has(job.id) && (job.error?.code === errorCode || !errorCode)) found.push(job);
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}
