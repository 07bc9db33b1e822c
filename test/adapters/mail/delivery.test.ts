import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect } from 'chai';
import { sql } from 'kysely';
import { pino } from 'pino';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { mailActivities } from '../../../activities/mail.ts';
import { createMailer } from '../../../adapters/mail/create-mailer.ts';
import { mainTaskQueue } from '../../../contract/intents/definitions.ts';
import type { Db } from '../../../db/connect.ts';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { nightly } from '../../support/nightly.ts';
import { until } from '../../support/processes.ts';
import { sampleValue, scrape } from '../../support/scrape.ts';
import { type MailServer, startMailServer } from '../../support/smtp.ts';
import { useApi } from '../../support/use-api.ts';

const contact = 'operator@example.com';

/** Lets the sessions of a database only read, as hosts do whose disk is nearly full, or write again. */
async function setReadOnly(db: Db, value: 'on' | 'off'): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`set default_transaction_read_only = off`.execute(connection);
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(connection);
    await sql`alter database ${sql.id(rows[0]?.name ?? '')} set default_transaction_read_only = ${sql.raw(value)}`.execute(connection);
    // Only new sessions take it over.
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`.execute(
      connection,
    );
    await sql`reset default_transaction_read_only`.execute(connection);
  });
}

describe('Mails', () => {
  let server: MailServer;
  let metrics = 0;
  const { api } = useApi({
    process: true,
    async env() {
      server = await startMailServer();
      [metrics = 0] = await findFreePorts(1);
      return {
        METRICS_PORT: String(metrics),
        SMTP_URL: server.url,
        CONTACT_EMAIL: contact,
        REQUIRE_EMAIL_VERIFICATION: 'true',
        WEB_URL: 'https://app.example.com',
      };
    },
  });
  after(() => server.stop());
  beforeEach(() => {
    server.mails.length = 0;
    server.refuseWith = undefined;
    server.ignore = undefined;
  });

  const post = (path: string, body: object, token?: string) => api.request('POST', path, { body, token });
  const write = (message: string) => post('/api/v1/contact', { email: 'ada@example.com', message });
  async function mailTo(address: string) {
    await until(() => server.mails.some(({ to }) => to.includes(address)));
    return server.mails.find(({ to }) => to.includes(address))?.body ?? '';
  }
  const rows = () => api.database.db.selectFrom('mail').selectAll().execute();
  const linkIn = (body: string) => /https?:\/\/\S+/.exec(body)?.[0] ?? '';

  it('verify an address, reset a password and invite, each with a link that works', async () => {
    const [email, password] = ['grace@example.com', 'a long password'];
    expect((await post('/api/auth/sign-up/email', { name: 'Grace', email, password })).status).to.equal(200);
    expect((await post('/api/auth/sign-in/email', { email, password })).status).to.equal(403);
    const verified = await fetch(linkIn(await mailTo(email)), { redirect: 'manual' });
    expect(verified.status).to.be.oneOf([200, 302]);
    const signedIn = await post('/api/auth/sign-in/email', { email, password });
    expect(signedIn.status).to.equal(200);
    const token = signedIn.headers.get('set-auth-token') ?? '';

    server.mails.length = 0;
    await post('/api/auth/request-password-reset', { email, redirectTo: 'https://app.example.com/reset' });
    const reset = await fetch(linkIn(await mailTo(email)), { redirect: 'manual' });
    const resetToken = new URL(reset.headers.get('location') ?? '').searchParams.get('token');
    const newPassword = 'another long password';
    expect((await post('/api/auth/reset-password', { newPassword, token: resetToken })).status).to.equal(200);
    const again = await post('/api/auth/sign-in/email', { email, password: newPassword });
    expect(again.status).to.equal(200);
    const newToken = again.headers.get('set-auth-token') ?? '';
    expect((await api.request('GET', '/api/v1/me', { token })).status).to.equal(401);

    const organization = await post('/api/auth/organization/create', { name: 'Acme', slug: 'acme' }, newToken);
    const invite = { organizationId: organization.body.id, email: 'guest@example.com', role: 'member' };
    const invited = await post('/api/auth/organization/invite-member', invite, newToken);
    expect(linkIn(await mailTo('guest@example.com'))).to.equal(`https://app.example.com/accept-invitation/${invited.body.id}`);
  });

  it('are forgotten once they are sent', async () => {
    expect((await write('Please answer me soon.')).status).to.equal(200);
    expect(await mailTo(contact)).to.include('Please answer me soon.');
    await until(async () => (await rows()).length === 0);
  });

  it('are not sent again by an attempt that comes after that', async () => {
    const mail = { taskQueue: mainTaskQueue, workflowId: 'mail-gone', args: [{ mailId: 'gone', kind: 'contact' }] };
    expect(await api.temporal.client.workflow.execute('sendMail', mail)).to.deep.equal({ sent: false });
  });

  nightly('survive a mail server that is away, and the death of the API, and come once', async () => {
    const { port } = server;
    await server.stop();
    expect((await write('Written while nobody listens.')).status).to.equal(200);
    await api.stack.kill('api');
    await api.stack.start('api');
    await until(async () => ((await rows())[0]?.attempts ?? 0) > 0);
    expect((await rows())[0]?.last_error).to.include('ECONNREFUSED');
    server = await startMailServer({ port });
    await until(async () => (await rows()).length === 0);
    expect(server.mails.map(({ body }) => body).join()).to.include('Written while nobody listens.');
    expect(server.mails).to.have.length(1);
  });

  nightly('that were being sent when the API died are sent by the next one, long before an attempt may end', async () => {
    const connected = new Promise<void>((resolve) => {
      server.ignore = resolve;
    });
    expect((await write('Written before the end.')).status).to.equal(200);
    await connected;
    await api.stack.kill('api');
    server.ignore = undefined;
    await api.stack.start('api');
    expect(await mailTo(contact)).to.include('Written before the end.');
    await until(async () => (await rows()).length === 0);
    expect(server.mails).to.have.length(1);
  });

  it('are not sent while the database only reads, and come once when it writes again', async () => {
    const { db } = api.database;
    server.refuseWith = 451;
    expect((await write('Written before the disk was full.')).status).to.equal(200);
    await until(async () => ((await rows())[0]?.attempts ?? 0) > 0);
    const handle = api.temporal.client.workflow.getHandle(`mail-${(await rows())[0]?.id}`);
    await setReadOnly(db, 'on');
    try {
      server.refuseWith = undefined;
      await until(async () => {
        const [sending] = (await handle.describe()).raw.pendingActivities ?? [];
        return sending?.lastFailure?.message?.includes('read-only') ?? false;
      });
      expect(server.mails).to.deep.equal([]);
    } finally {
      await setReadOnly(db, 'off');
    }
    await until(async () => (await rows()).length === 0);
    expect(server.mails).to.have.length(1);
  });

  it('that the server refuses fail their workflow, which names nobody, and stay for the operator', async () => {
    server.refuseWith = 550;
    expect((await write('This one is refused for good.')).status).to.equal(200);
    await until(async () => (await rows())[0]?.attempts === 1);
    const [row] = await rows();
    const handle = api.temporal.client.workflow.getHandle(`mail-${row?.id}`);
    await until(async () => (await handle.describe()).status.name === 'FAILED');
    const history = JSON.stringify(await handle.fetchHistory());
    expect(history).to.include('The mail server refuses this mail (550).');
    for (const secret of [contact, 'ada@example.com', 'refused for good']) expect(history).to.not.include(secret);
    expect((await rows())[0]).to.deep.include({ kind: 'contact', recipient: contact });
    expect((await rows())[0]?.last_error).to.include('550');
  });

  nightly(
    'that the server does not take are told by the metrics while they are tried again, and no longer once they are refused for good',
    async () => {
      await api.database.db.deleteFrom('mail').execute();
      const told = async () => {
        const samples = await scrape(metrics);
        return ['waiting', 'refused'].map((name) => sampleValue(samples, `sheaf_mails_${name}`));
      };
      server.refuseWith = 451;
      expect((await write('This one is refused for now.')).status).to.equal(200);
      await until(async () => `${await told()}` === '1,1' && (sampleValue(await scrape(metrics), 'sheaf_mails_oldest_seconds') ?? 0) >= 1);
      server.refuseWith = 550;
      await until(async () => `${await told()}` === '0,0');
      expect(sampleValue(await scrape(metrics), 'sheaf_mails_oldest_seconds')).to.equal(0);
      expect(await rows()).to.have.length(1);
    },
  );

  nightly('that an operator cancels are no longer told by the metrics', async () => {
    await api.database.db.deleteFrom('mail').execute();
    server.refuseWith = 451;
    expect((await write('This one is canceled.')).status).to.equal(200);
    const told = async () => sampleValue(await scrape(metrics), 'sheaf_mails_refused');
    await until(async () => (await told()) === 1);
    const handle = api.temporal.client.workflow.getHandle(`mail-${(await rows())[0]?.id}`);
    await handle.cancel();
    await until(async () => (await told()) === 0);
    await until(async () => (await handle.describe()).status.name === 'CANCELLED');
    expect(await rows()).to.have.length(1);
  });

  it('are no longer being sent once their attempt is over', async () => {
    const { db } = api.database;
    await db.deleteFrom('mail').execute();
    await db.insertInto('mail').values({ id: 'one', kind: 'contact', recipient: contact, subject: 's', body: 'b' }).execute();
    const attempt = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
    server.ignore = () => attempt.cancel();
    const email = { provider: 'smtp' as const, smtpUrl: server.url, from: contact, senderName: 'Sheaf', contactAddress: undefined };
    const deps = {
      db,
      mailer: createMailer({ dataDir: '.', email, apiUrl: 'http://localhost', webUrl: 'http://localhost' }),
      log: pino({ level: 'silent' }),
    } as unknown as ActivityDeps;
    const failure = await attempt.run(mailActivities(deps).sendMail, { mailId: 'one' }).catch(String);
    expect(failure).to.include('The mail server did not take the mail (EABORT)');
    expect(await rows()).to.have.length(1);
  });

  it('leave no address, text or link in the log', () => {
    const log = api.stack.readLog('api');
    expect(log).to.include('mail sent');
    for (const secret of ['grace@example.com', contact, 'Please answer me soon', 'token=']) expect(log).to.not.include(secret);
  });
});

describe('Mails of a deployment for development', () => {
  const { api } = useApi({ env: { REQUIRE_EMAIL_VERIFICATION: 'true' } });

  it('are files in DATA_DIR/mail, with links to copy', async () => {
    const directory = join(api.stack.dataDir, 'mail');
    const body = { name: 'Grace', email: 'grace@example.com', password: 'a long password' };
    await api.request('POST', '/api/auth/sign-up/email', { body });
    const find = () => {
      try {
        return readdirSync(directory).find((name) => /-verification-grace@example\.com-\w+\.eml$/.test(name));
      } catch {
        return undefined;
      }
    };
    await until(() => find() !== undefined);
    const link = /^http\S+$/m.exec(readFileSync(join(directory, find() ?? ''), 'utf8'))?.[0] ?? '';
    expect((await fetch(link, { redirect: 'manual' })).status).to.be.oneOf([200, 302]);
    const signedIn = await api.request('POST', '/api/auth/sign-in/email', { body });
    expect(signedIn.status).to.equal(200);
  });
});
