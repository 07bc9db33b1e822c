import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type RawBuilder, sql } from 'kysely';
import { createSecretBox } from '../../../domain/secret-box.ts';
import { createJob } from '../../support/jobs.ts';
import { until } from '../../support/processes.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { staysTrue } from '../../support/stays-true.ts';
import { useApi } from '../../support/use-api.ts';
import { addEndpoint, call, deliveriesOf, deliveryIn, verifies, webhooksOn } from './support.ts';

const embed = { kind: 'text.embed', texts: ['one'] };

describe('Webhooks', () => {
  const used = useApi({ ai: true, env: webhooksOn, tenant: 'of each test', check: 'after each test' });
  const { api, ai } = used;
  let receiver: Receiver;
  const others: Receiver[] = [];
  beforeEach(async () => {
    receiver = await startReceiver();
    ai.behave('embed');
  });
  afterEach(async () => {
    await receiver.stop();
    for (const other of others.splice(0)) await other.stop();
  });

  async function another(): Promise<Receiver> {
    const started = await startReceiver();
    others.push(started);
    return started;
  }

  it('tell an endpoint of a job that has succeeded, signed, and list what was sent and what came back', async () => {
    const { tenant } = used;
    receiver.behave({ status: 200, body: 'thanks' });
    const { id, secret } = await addEndpoint(api, tenant, { url: receiver.url });
    const job = await createJob(api, tenant, embed);
    await until(() => receiver.received.length > 0);

    const [got] = receiver.received;
    if (!got) throw new Error('nothing was received');
    expect(verifies(secret, got)).to.equal(true);
    expect(got.event.type).to.equal('job.succeeded');
    const { organizationId } = tenant;
    expect(got.event.data).to.deep.equal({ organizationId, jobId: job.id, kind: 'text.embed', workspaceId: null, documentId: null });
    expect(new Date(got.event.timestamp).getTime()).to.be.closeTo(Date.now(), 60_000);

    const delivery = await deliveryIn(api, tenant, id, 'delivered');
    expect(delivery).to.deep.include({
      ...{ event: 'job.succeeded', eventId: got.headers['webhook-id'], endpointId: id, error: null, nextAttemptAt: null },
      request: { url: receiver.url, body: got.body },
      response: { status: 200, body: 'thanks' },
    });
    expect(delivery.attempts).to.have.length(1);
    expect(delivery.attempts[0]).to.include({ status: 200, error: null });
    expect(await call(api, tenant, 'GET', `/webhook-deliveries/${delivery.id}`)).to.deep.equal(delivery);
    const listed = await call(api, tenant, 'GET', `/webhooks?organizationId=${organizationId}`);
    expect(listed).to.have.length(1);
    expect(listed[0]).to.deep.include({ id, url: receiver.url, failingSince: null }).and.not.have.property('secret');
  });

  it('tell of a job that has failed or was canceled only those who ask, and each endpoint of a fact once', async () => {
    const { tenant } = used;
    const second = await another();
    await addEndpoint(api, tenant, { url: receiver.url, events: ['job.failed', 'job.canceled'] });
    await addEndpoint(api, tenant, { url: second.url, events: ['job.failed'] });
    ai.behave('embed', () => ({ status: 422, body: { error: { code: 'bad', message: 'Bad.' } } }));
    const failed = await createJob(api, tenant, embed);
    await until(() => receiver.received.length === 1 && second.received.length === 1);
    expect(receiver.received[0]?.event).to.deep.include({ type: 'job.failed' });
    expect(receiver.received[0]?.event.data.jobId).to.equal(failed.id);
    expect(receiver.received[0]?.headers['webhook-id']).to.equal(second.received[0]?.headers['webhook-id']);

    ai.behave('embed');
    const succeeded = await createJob(api, tenant, embed);
    await api.jobIn(tenant.owner.token, succeeded.id, ['succeeded']);
    ai.behave('embed', () => ({ status: 503, body: { error: { code: 'busy', message: 'Busy.' } } }));
    const waiting = await createJob(api, tenant, embed);
    await until(async () => (await call(api, tenant, 'GET', `/jobs/${waiting.id}`)).nextAttemptAt !== null);
    await call(api, tenant, 'POST', `/jobs/${waiting.id}/cancel`);
    await until(() => receiver.received.length === 2);
    expect(receiver.received[1]?.event.type).to.equal('job.canceled');
    await staysTrue(() => receiver.received.length === 2 && second.received.length === 1, 1_500);
  });

  it('try again until the receiver accepts, with the same id, and list every attempt', async () => {
    const { tenant } = used;
    receiver.behave((_request, number) => (number < 3 ? { status: 500, body: 'broken' } : { status: 204 }));
    const { id, secret } = await addEndpoint(api, tenant, { url: receiver.url });
    await createJob(api, tenant, embed);
    const delivery = await deliveryIn(api, tenant, id, 'delivered');
    expect(receiver.received).to.have.length(3);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
    expect(receiver.received.every((request) => verifies(secret, request))).to.equal(true);
    expect(delivery.attempts.map(({ status }: { status: number }) => status)).to.deep.equal([500, 500, 204]);
    expect(delivery.attempts[0].error).to.equal('The receiver answered 500.');
    const [endpoint] = await call(api, tenant, 'GET', `/webhooks?organizationId=${tenant.organizationId}`);
    expect(endpoint.failingSince).to.equal(null);
  });

  it('are given up after the last attempt, and sent again one by one or by filter, after a dry run', async () => {
    const { tenant } = used;
    receiver.behave({ status: 302, headers: { location: 'http://127.0.0.1:9/' } });
    const { id } = await addEndpoint(api, tenant, { url: receiver.url });
    await createJob(api, tenant, embed);
    const failed = await deliveryIn(api, tenant, id, 'failed');
    expect(failed.attempts).to.have.length(3);
    expect(failed.error).to.contain('redirects are not followed');
    await createJob(api, tenant, embed);
    await until(async () => (await deliveriesOf(api, tenant, '&status=failed')).length === 2);

    receiver.behave({});
    const one = await call(api, tenant, 'POST', `/webhook-deliveries/${failed.id}/resend`);
    expect(one).to.include({ id: failed.id, status: 'pending', error: null });
    await until(async () => (await call(api, tenant, 'GET', `/webhook-deliveries/${failed.id}`)).status === 'delivered');
    expect((await call(api, tenant, 'GET', `/webhook-deliveries/${failed.id}`)).attempts).to.have.length(4);
    expect(receiver.received.at(-1)?.headers['webhook-id']).to.equal(failed.eventId);

    const filter = { organizationId: tenant.organizationId, endpointId: id };
    const before = receiver.received.length;
    const dry = await call(api, tenant, 'POST', '/webhook-deliveries/resend', { ...filter, dryRun: true });
    expect(dry).to.deep.equal({ matched: 1, resent: 0, more: false, nextCursor: null });
    const none = await call(api, tenant, 'POST', '/webhook-deliveries/resend', { ...filter, to: '2026-01-01T00:00:00.000Z' });
    expect(none).to.deep.equal({ matched: 0, resent: 0, more: false, nextCursor: null });
    expect(receiver.received).to.have.length(before);
    const many = await call(api, tenant, 'POST', '/webhook-deliveries/resend', filter);
    expect(many).to.deep.equal({ matched: 1, resent: 1, more: false, nextCursor: null });
    await until(async () => (await deliveriesOf(api, tenant, '&status=delivered')).length === 2);
    const audited = api.database.db.selectFrom('audit_entry').select('target_id').where('action', '=', 'webhook.resend');
    expect((await audited.orderBy('created_at').execute()).map(({ target_id }) => target_id)).to.deep.equal([
      failed.id,
      tenant.organizationId,
    ]);
  });

  it('are sent again a thousand at a time, each once, although many are of the same moment', async () => {
    const { organizationId } = used.tenant;
    const { id } = await addEndpoint(api, used.tenant, { url: receiver.url });
    await sql`insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event, data, status)
      select 'many-' || n, ${organizationId}, ${id}, 'evt_' || n, 'job.succeeded', '{}', 'delivered' from generate_series(1, 2050) as n`.execute(
      api.database.db,
    );
    const filter = { organizationId, status: 'delivered', dryRun: true };
    const resend = (cursor?: string) => call(api, used.tenant, 'POST', '/webhook-deliveries/resend', { ...filter, cursor });
    const first = await resend();
    expect(first).to.include({ matched: 1_000, more: true });
    const second = await resend(first.nextCursor);
    expect(second).to.include({ matched: 1_000, more: true });
    expect(await resend(second.nextCursor)).to.deep.equal({ matched: 50, resent: 0, more: false, nextCursor: null });

    receiver.behave({ status: 500 });
    const sent = await call(api, used.tenant, 'POST', '/webhook-deliveries/resend', {
      ...filter,
      dryRun: false,
      cursor: second.nextCursor,
    });
    expect(sent.resent).to.equal(50);
    const held = api.database.db.selectFrom('webhook_delivery').select('id').where('endpoint_id', '=', id).where('held', '=', true);
    expect(await held.execute(), 'all but eight wait until it accepts one').to.have.length.within(41, 42);
    receiver.behave({});
    await createJob(api, used.tenant, embed);
    await until(() => new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size === 51);
  });

  it('disable an endpoint that answers 410, write to the owners, and send nothing that waits', async () => {
    const { tenant } = used;
    receiver.behave({ status: 410 });
    const { id } = await addEndpoint(api, tenant, { url: receiver.url });
    await createJob(api, tenant, embed);
    await deliveryIn(api, tenant, id, 'failed');
    const [endpoint] = await call(api, tenant, 'GET', `/webhooks?organizationId=${tenant.organizationId}`);
    expect(endpoint).to.include({ enabled: false, disabledReason: 'gone' });
    await until(() => mailsTo(tenant.owner.email).length === 1);
    expect(mailsTo(tenant.owner.email)[0]).to.contain(receiver.url);
    const later = await createJob(api, tenant, embed);
    await api.jobIn(tenant.owner.token, later.id, ['succeeded']);
    await staysTrue(() => receiver.received.length === 1, 1_500);
    // What the mail says: only what failed before is kept.
    expect(mailsTo(tenant.owner.email)[0]?.replace(/=\r?\n/g, '')).to.contain('what happens while it is disabled is not kept');
    expect(await deliveriesOf(api, tenant)).to.have.length(1);

    receiver.behave({});
    const enabled = await call(api, tenant, 'PATCH', `/webhooks/${id}`, { enabled: true });
    expect(enabled).to.include({ enabled: true, disabledReason: null, failingSince: null });
    await createJob(api, tenant, embed);
    await until(() => receiver.received.length === 2);
  });

  it('name no next attempt of what waits for an endpoint that was disabled, until it is enabled again', async () => {
    const { tenant } = used;
    receiver.behave({ status: 503, headers: { 'retry-after': '3600' } });
    const { id } = await addEndpoint(api, tenant, { url: receiver.url });
    await createJob(api, tenant, embed);
    await until(() => receiver.received.length === 1);
    await until(async () => (await deliveriesOf(api, tenant))[0]?.attempts.length === 1);
    const [waiting] = await deliveriesOf(api, tenant);
    expect(waiting.nextAttemptAt).to.be.a('string');

    await call(api, tenant, 'PATCH', `/webhooks/${id}`, { enabled: false });
    expect((await deliveriesOf(api, tenant))[0]).to.deep.equal({ ...waiting, nextAttemptAt: null });
    expect(await call(api, tenant, 'GET', `/webhook-deliveries/${waiting.id}`)).to.deep.equal({ ...waiting, nextAttemptAt: null });
    await call(api, tenant, 'PATCH', `/webhooks/${id}`, { enabled: true });
    expect(await call(api, tenant, 'GET', `/webhook-deliveries/${waiting.id}`)).to.deep.equal(waiting);
  });

  it('disable an endpoint after five days of failures, and not before', async () => {
    const { tenant } = used;
    receiver.behave({ status: 500 });
    const { id } = await addEndpoint(api, tenant, { url: receiver.url });
    let sent = 0;
    const failSince = async (hours: number) => {
      await sql`update webhook_endpoint set failing_since = now() - make_interval(hours => ${hours}::int) where id = ${id}`.execute(
        api.database.db,
      );
      await createJob(api, tenant, embed);
      sent += 1;
      await until(async () => (await deliveriesOf(api, tenant, '&status=failed')).length === sent);
      return await call(api, tenant, 'GET', `/webhooks/${id}`);
    };
    expect(await failSince(119)).to.include({ enabled: true, disabledReason: null });
    expect(await failSince(121)).to.include({ enabled: false, disabledReason: 'failing' });
    await until(() => mailsTo(tenant.owner.email).length === 1);
  });

  it('refuse an address that is not allowed for good, and say why', async () => {
    const { tenant } = used;
    const { organizationId } = tenant;
    const body = { organizationId, url: 'https://169.254.169.254/latest', events: ['job.succeeded'] };
    const refused = await api.request('POST', '/api/v1/webhooks', { token: tenant.owner.token, body });
    expect(refused.status).to.equal(400);
    expect(refused.body.data.issues[0]).to.deep.include({ path: ['url'] });
    // A name says nothing before it is looked up.
    const { id } = await addEndpoint(api, tenant, { url: `https://hooks.invalid:${receiver.port}/` });
    await sql`update webhook_endpoint set url = ${`http://127.0.0.2:${receiver.port}/`} where id = ${id}`.execute(api.database.db);
    await createJob(api, tenant, embed);
    const delivery = await deliveryIn(api, tenant, id, 'failed');
    expect(delivery.attempts).to.have.length(1);
    expect(delivery.error).to.match(/^The address of the host is not public \(loopback\)/);
    expect(receiver.received).to.deep.equal([]);
  });

  it('send a test to any endpoint, once, without a word on whether it fails', async () => {
    const { tenant } = used;
    const { id } = await addEndpoint(api, tenant, { url: receiver.url, enabled: false });
    receiver.behave({ status: 500 });
    const sent = await call(api, tenant, 'POST', `/webhooks/${id}/test`);
    expect(sent).to.include({ event: 'webhook.test', status: 'pending' });
    const ended = await deliveryIn(api, tenant, id, 'failed');
    expect(ended.attempts).to.have.length(1);
    expect(receiver.received[0]?.event.data).to.deep.equal({ organizationId: tenant.organizationId, endpointId: id });
    expect(await call(api, tenant, 'GET', `/webhooks/${id}`)).to.include({ failingSince: null, enabled: false });
  });

  it('are tests, too, of those that one endpoint gets at once', async () => {
    const { tenant } = used;
    const { id } = await addEndpoint(api, tenant, { url: receiver.url });
    const { promise: after, resolve: open } = Promise.withResolvers<void>();
    receiver.behave({ after });
    const sent = await Promise.all(Array.from({ length: 20 }, () => call(api, tenant, 'POST', `/webhooks/${id}/test`)));
    const error = 'It was not sent: the endpoint still has 8 requests to respond to.';
    const refused = async () => (await deliveriesOf(api, tenant)).filter((delivery: any) => delivery.error === error);
    await until(async () => (await refused()).length > 0);
    for (const { attempts } of await refused()) expect(attempts).to.deep.equal([]);
    open();
    await until(async () => (await deliveriesOf(api, tenant)).every(({ status }) => status !== 'pending'));
    expect(await deliveriesOf(api, tenant)).to.have.length(sent.length);
    expect(receiver.mostOpen).to.equal(8);
  });

  it('sign by both secrets while one rotates, and by the new one alone without an overlap', async () => {
    const { tenant } = used;
    const first = await addEndpoint(api, tenant, { url: receiver.url });
    const second = await call(api, tenant, 'POST', `/webhooks/${first.id}/rotate-secret`);
    expect(second.secret).not.to.equal(first.secret);
    await call(api, tenant, 'POST', `/webhooks/${first.id}/test`);
    await until(() => receiver.received.length === 1);
    const [both] = receiver.received;
    expect(both && [first.secret, second.secret].map((secret) => verifies(secret, both))).to.deep.equal([true, true]);

    const third = await call(api, tenant, 'POST', `/webhooks/${first.id}/rotate-secret`, { overlapHours: 0 });
    await call(api, tenant, 'POST', `/webhooks/${first.id}/test`);
    await until(() => receiver.received.length === 2);
    const one = receiver.received[1];
    expect(one && [first, second, third].map(({ secret }) => verifies(secret, one))).to.deep.equal([false, false, true]);
    const asymmetric = await addEndpoint(api, tenant, { url: receiver.url, signature: 'v1a' });
    expect(asymmetric.secret).to.equal(null);
    expect(asymmetric.publicKey).to.match(/^whpk_/);
  });

  it('fail at once if a new AUTH_SECRET has left the secret unreadable, until the endpoint has a new one', async () => {
    const { tenant } = used;
    const { id } = await addEndpoint(api, tenant, { url: receiver.url });
    const lost = createSecretBox(randomBytes(32)).seal('whsec_lost');
    await api.database.db.updateTable('webhook_endpoint').set({ secret: lost }).where('id', '=', id).execute();
    await createJob(api, tenant, embed);
    const failed = await deliveryIn(api, tenant, id, 'failed');
    expect(failed).to.deep.include({ error: 'The endpoint needs a new secret.', attempts: [] });

    const renewed = await call(api, tenant, 'POST', `/webhooks/${id}/rotate-secret`);
    await call(api, tenant, 'POST', `/webhook-deliveries/${failed.id}/resend`);
    await deliveryIn(api, tenant, id, 'delivered');
    const columns = api.database.db.selectFrom('webhook_endpoint').select('previous_secret').where('id', '=', id);
    expect(await columns.executeTakeFirst()).to.deep.equal({ previous_secret: null });

    const later = sql<Date>`now() + interval '1 hour'`;
    await api.database.db
      .updateTable('webhook_endpoint')
      .set({ previous_secret: lost, previous_secret_until: later })
      .where('id', '=', id)
      .execute();
    await call(api, tenant, 'POST', `/webhooks/${id}/test`);
    await deliveryIn(api, tenant, id, 'delivered');
    expect(receiver.received.map((request) => verifies(renewed.secret, request))).to.deep.equal([true, true]);
  });

  it('reach an endpoint at once while another never answers', async () => {
    const { tenant } = used;
    const silent = await another();
    silent.behave({ never: true });
    await addEndpoint(api, tenant, { url: silent.url });
    await addEndpoint(api, tenant, { url: receiver.url });
    const jobs = await Promise.all(Array.from({ length: 16 }, () => createJob(api, tenant, embed)));
    await until(() => receiver.received.length === jobs.length);
    // Each takes 3 s there, so that all of them would be open at once if nothing held them back.
    await until(() => silent.received.length >= jobs.length);
    expect(silent.mostOpen).to.be.within(1, 8);
    expect(new Set(receiver.received.map(({ event }) => event.data.jobId))).to.deep.equal(new Set(jobs.map(({ id }) => id)));
  });

  it('wait for their time if an attempt comes before it, which does not count', async () => {
    const { tenant } = used;
    const { id } = await addEndpoint(api, tenant, { url: receiver.url });
    await emit(1, sql`update webhook_delivery set next_attempt_at = clock_timestamp() + interval '3 seconds' where endpoint_id = ${id}`);
    const [{ nextAttemptAt }] = await deliveriesOf(api, tenant);
    const delivery = await deliveryIn(api, tenant, id, 'delivered');
    expect(receiver.received).to.have.length(1);
    expect(receiver.received[0]?.at).to.be.at.least(Date.parse(nextAttemptAt) - 100);
    expect(delivery.attempts).to.have.length(1);
  });

  it('send nothing more to an endpoint that is gone, also not what waited for its turn', async () => {
    const { tenant } = used;
    receiver.behave({ status: 410, slowMs: 2_000 });
    await addEndpoint(api, tenant, { url: receiver.url });
    await emit(16);
    await until(async () => (await deliveriesOf(api, tenant, '&status=failed')).length === 16);
    expect(receiver.received.length).to.be.within(1, 8);
    const unsent = (await deliveriesOf(api, tenant)).filter(({ attempts }) => attempts.length === 0);
    expect(unsent).to.have.length(16 - receiver.received.length);
    expect(new Set(unsent.map(({ error }) => error))).to.deep.equal(new Set(['The endpoint is disabled.']));
  });

  it('end with their endpoint: what waits is not sent, and what was sent stays listed', async () => {
    const { tenant } = used;
    receiver.behave({ status: 503, headers: { 'retry-after': '4' } });
    const { id } = await addEndpoint(api, tenant, { url: receiver.url });
    await createJob(api, tenant, embed);
    await until(() => receiver.received.length > 0);
    await call(api, tenant, 'DELETE', `/webhooks/${id}`);
    const ended = await deliveryIn(api, tenant, id, 'failed');
    expect(ended.error).to.equal('The endpoint was deleted.');
    expect(ended.attempts).to.have.length(1);
    expect(receiver.received).to.have.length(1);
    const gone = await api.request('GET', `/api/v1/webhooks/${id}`, { token: tenant.owner.token });
    expect(gone.status).to.equal(404);
  });

  /** Writes events of the tenant, and then what `also` says, in one transaction. */
  async function emit(events: number, also: RawBuilder<unknown> = sql`select`): Promise<void> {
    const { organizationId } = used.tenant;
    await api.database.db.transaction().execute(async (trx) => {
      await sql`select emit_webhook(${organizationId}, 'job.succeeded', null, '{}') from generate_series(1, ${events}::int)`.execute(trx);
      await also.execute(trx);
    });
  }

  /** The mails that the deployment has written to an address. */
  function mailsTo(address: string): string[] {
    const directory = join(api.stack.dataDir, 'mail');
    const files = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.eml')) : [];
    const mails = files.map((name) => readFileSync(join(directory, name), 'utf8'));
    return mails.filter((mail) => mail.includes('webhook endpoint') && mail.includes(address));
  }
});
