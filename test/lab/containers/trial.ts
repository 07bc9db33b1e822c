import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { type CheckResult, check, same } from './check.ts';
import { Compose } from './compose.ts';
import type { Deployment } from './deployment.ts';
import { runCommand } from './run-command.ts';

export type Trial = Pick<Deployment, 'compose' | 'url' | 'temporalUiUrl' | 'forget'>;

/** A deployment with nothing set but the ports, so that it has its own. */
export async function prepareTrial(): Promise<Trial> {
  const directory = mkdtempSync(join(tmpdir(), 'sheaf-trial-'));
  const envFile = join(directory, '.env');
  const [port, uiPort] = await findFreePorts(2);
  writeFileSync(envFile, `EDGE_PORT=${port}\nTEMPORAL_UI_PORT=${uiPort}\n`);
  return {
    compose: new Compose(`sheaf-trial-${process.pid}`, envFile),
    url: `http://localhost:${port}`,
    temporalUiUrl: `http://localhost:${uiPort}`,
    forget: async () => rmSync(directory, { recursive: true }),
  };
}

/** Checks what a newcomer gets. `restart` brings it up again after a `down`. */
export async function checkTrial({ compose, url, temporalUiUrl }: Trial, restart: () => Promise<unknown>): Promise<CheckResult[]> {
  let token = '';
  const call = async (method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const response = await fetch(`${url}${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    token ||= response.headers.get('set-auth-token') ?? '';
    return { status: response.status, body: (await response.json()) as any };
  };
  return [
    await check('the log says what a trial lacks', async () => {
      const { stdout } = await compose.try('logs', '--no-log-prefix', 'secrets', 'api');
      for (const words of ['WARNING: a trial', 'mails are not sent, but kept'])
        if (!stdout.includes(words)) throw new Error(`the log does not say “${words}”`);
      return 'secrets that were made here, mails that are not sent';
    }),
    await check('who reads which secret', async () => {
      const services = ['api', 'worker', 'ai', 'postgres', 'temporal'];
      const names = await Promise.all(services.map(async (service) => (await compose.exec(service, 'ls', '/run/made')).stdout.split('\n')));
      const ofServer = ['AUTH_SECRET', 'DATABASE_URL', 'SERVICE_TOKEN', ''];
      const ofPostgres = ['DATABASE_PASSWORD', 'POSTGRES_PASSWORD', 'TEMPORAL_DATABASE_PASSWORD', ''];
      same('the files', names, [ofServer, ofServer, ['SERVICE_TOKEN', ''], ofPostgres, ['POSTGRES_PWD', '']]);
      return 'each only its own';
    }),
    await check('the first user reads the mails', async () => {
      const email = 'first@example.com';
      await call('POST', '/api/auth/sign-up/email', { name: 'First', email, password: 'a long password' });
      await call('POST', '/api/auth/request-password-reset', { email });
      for (let waited = 0; ; waited++) {
        const { status, body } = await call('GET', '/api/v1/admin/mails');
        same('the list', status, 200);
        if (body.total > 0) {
          const [link = ''] = /http\S+/.exec(body.items[0].text) ?? [];
          same('where its link leads', new URL(link).origin, url);
          return `to ${body.items[0].to}: ${body.items[0].subject}`;
        }
        if (waited === 60) throw new Error('none has come within a minute');
        await delay(1_000);
      }
    }),
    await check('what a trial has on', async () => {
      same('a job for all of a document', (await call('GET', '/api/v1/job-kinds')).body.jobKinds.includes('document.process'), true);
      const { id } = (await call('POST', '/api/auth/organization/create', { name: 'First', slug: 'first' })).body;
      same('webhooks', (await call('GET', `/api/v1/webhooks?organizationId=${id}`)).status, 200);
      return 'document.process and webhooks';
    }),
    await check('npm run demo', async () => {
      const env = { SHEAF_URL: url, TEMPORAL_UI_URL: temporalUiUrl };
      const told = await runCommand(process.execPath, ['docs/examples/demo/main.ts', '--json'], { env });
      const { documents, jobs, search } = JSON.parse(told);
      same('the model of its searches', search[0].model, 'local-multilingual-e5-small');
      return `${documents.length} documents, ${jobs.length} jobs, searched by meaning`;
    }),
    await check('a second start has the same secrets', async () => {
      await compose.run('down', '--timeout', '20');
      await restart();
      same('a session from before', (await call('GET', '/api/v1/me')).status, 200);
      return 'a session from before holds';
    }),
  ];
}
