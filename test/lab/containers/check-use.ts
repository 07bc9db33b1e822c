import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeConsumer, runReadme } from '../../clients/support/consumer.ts';
import { curlLines } from '../../docs/support/curl-lines.ts';
import { type CheckResult, check, same } from './check.ts';
import type { Deployment } from './deployment.ts';
import { runCommand } from './run-command.ts';

/** Production lets an address sign up three times in ten seconds, and everybody here has the same. */
const betweenSignUpsMs = 11_000;

/** Checks what users do, by way of the edge: the demo, the README's commands, the program of the client's README, a mail. */
export async function checkUse({ url, temporalUiUrl, mails }: Deployment): Promise<CheckResult[]> {
  return [
    await check('the edge', async () => {
      const response = await fetch(`${url}/readyz`, { headers: { 'x-request-id': 'by-way-of-the-edge' } });
      same('readiness and id', [response.status, response.headers.get('x-request-id')], [200, 'by-way-of-the-edge']);
      const large = await fetch(`${url}/api/v1/jobs`, { method: 'POST', body: Buffer.alloc(1_000_001) });
      same('a large body', [large.status, ((await large.json()) as { error: string }).error], [413, 'payload_too_large']);
      return 'ready, keeps request ids, refuses large bodies itself';
    }),
    await check('the console', async () => {
      const page = await fetch(url, { headers: { accept: 'text/html' } });
      const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(await page.text()) ?? [];
      const loaded = await fetch(new URL(script, url));
      same('the page and its script', [page.status, loaded.status, script.endsWith('.js')], [200, 200, true]);
      const policy = page.headers.get('content-security-policy') ?? '';
      if (!policy.includes("default-src 'none'") && !policy.includes("default-src 'self'")) throw new Error(`its policy is “${policy}”`);
      return `${script} and the policy of its page`;
    }),
    await check("Temporal's UI", async () => {
      const response = await fetch(`${temporalUiUrl}/api/v1/namespaces/default`);
      same('the namespace', response.status, 200);
      return 'shows the namespace';
    }),
    await check('npm run demo', async () => {
      const env = { SHEAF_URL: url, TEMPORAL_UI_URL: temporalUiUrl };
      const { documents, jobs, search } = JSON.parse(await runCommand(process.execPath, ['docs/examples/demo/main.ts', '--json'], { env }));
      return `${documents.length} documents, ${jobs.length} jobs, ${search.length} searches`;
    }),
    await check("the README's curl commands", async () => {
      await delay(betweenSignUpsMs);
      const printed = await runCommand('sh', ['-eu', '-c', curlLines(url)]);
      const events = [...printed.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
      const succeeded = new Set(events.flatMap(({ kind, status }) => (status === 'succeeded' ? [kind] : [])));
      same('jobs that succeed', [...succeeded].sort(), ['document.extract', 'document.index', 'document.summarize']);
      if (!printed.includes('count the mites')) throw new Error(`the passage is not found:\n${printed}`);
      return 'three jobs succeed on the stream, the passage is found';
    }),
    await check("the client's README", async () => {
      await delay(betweenSignUpsMs);
      const directory = mkdtempSync(join(tmpdir(), 'sheaf-client-'));
      try {
        const lines = (await runReadme(await makeConsumer(directory), url)).trimEnd().split('\n');
        same('the end', lines.slice(-2), ['ada@example.com', 'true']);
        return `${lines.length} lines as they should be`;
      } finally {
        rmSync(directory, { recursive: true });
      }
    }),
    await check('a mail', async () => {
      const before = mails.mails.length;
      const body = JSON.stringify({ email: 'ada@example.com' });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${url}/api/auth/request-password-reset`, { method: 'POST', headers, body });
      same('the request', response.status, 200);
      for (let waited = 0; mails.mails.length === before; waited++) {
        if (waited === 60) throw new Error('none has come within a minute');
        await delay(1_000);
      }
      return `to ${mails.mails.at(-1)?.to}`;
    }),
  ];
}
