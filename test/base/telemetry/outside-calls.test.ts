import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { billingOn } from '../../api/auth/support/service.ts';
import { type StripeServer, startStripeServer } from '../../lab/stripe-stand-in/stripe-server.ts';
import { until } from '../../support/processes.ts';
import { type MailServer, startMailServer } from '../../support/smtp.ts';
import { withTimes } from '../../support/times.ts';
import { startTraceCollector, type TraceCollector } from '../../support/trace-collector.ts';
import { useApi } from '../../support/use-api.ts';

describe('A trace', () => {
  let collector: TraceCollector;
  let stripe: StripeServer;
  let mails: MailServer;
  const { api, tenant } = useApi({
    async env() {
      [collector, stripe, mails] = await Promise.all([startTraceCollector(), startStripeServer(), startMailServer()]);
      return withTimes(
        { spanExport: 100 },
        {
          ...billingOn,
          STRIPE_API_BASE: stripe.url,
          SMTP_URL: mails.url,
          CONTACT_EMAIL: 'operator@example.com',
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        },
      );
    },
  });
  after(() => Promise.all([stripe.stop(), mails.stop(), collector.stop()]));
  afterEach(() => {
    stripe.available = true;
    mails.refuseWith = undefined;
  });

  /** Sends a request in a trace of its own, and returns what finds the spans of that trace. */
  async function traced(path: string, body: object) {
    const traceId = randomBytes(16).toString('hex');
    const headers = { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` };
    const answer = await api.request('POST', path, { token: tenant.owner.token, body, headers });
    const spans = (name: RegExp) => collector.spansOf(traceId).filter((span) => name.test(span.name));
    return { answer, spans };
  }
  const upgrade = () => traced('/api/auth/subscription/upgrade', { plan: 'pro', referenceId: tenant.organizationId });

  it('shows the calls of Stripe that a request waits for, without ids in their names, queries and contents', async () => {
    const { answer, spans } = await upgrade();
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    await until(() => spans(/^POST /).length > 0);
    const [request] = spans(/^POST /);
    const calls = spans(/^Stripe /);
    expect(calls.map(({ name }) => name)).to.include.members(['Stripe POST /v1/customers', 'Stripe POST /v1/checkout/sessions']);
    for (const { name, attributes, parentSpanId, status } of calls) {
      expect([parentSpanId, status], name).to.deep.equal([request?.spanId, 0]);
      expect(attributes).to.include({ 'http.response.status_code': 200, 'url.template': name.split(' ')[2] });
    }
    for (const known of ['cus_', 'cs_', tenant.owner.email, tenant.slug, tenant.organizationId, 'sk_test', '?'])
      expect(JSON.stringify(calls), known).not.to.include(known);
  });

  it('shows which call of Stripe failed, and each that was tried again', async () => {
    stripe.available = false;
    const { answer, spans } = await upgrade();
    expect(answer.status).to.be.at.least(400);
    await until(() => spans(/^POST /).length > 0);
    const calls = spans(/^Stripe /);
    expect(calls).to.have.length.above(1);
    for (const { status, attributes } of calls) {
      expect(status).to.equal(2);
      expect(attributes).to.have.property('error.type');
    }
  });

  for (const [title, refuseWith, status, error] of [
    ['the sending of a mail', undefined, 0, undefined],
    ['that a mail was refused', 550, 2, 'mail_refused'],
  ] as const)
    it(`shows ${title}, without its address and its text`, async () => {
      mails.refuseWith = refuseWith;
      const message = `A message ${randomBytes(8).toString('hex')}`;
      const { answer, spans } = await traced('/api/v1/contact', { email: 'ada@example.com', message });
      expect(answer.status).to.equal(200);
      await until(() => spans(/^SMTP send$/).length > 0 && spans(/^RunActivity:/).length > 0);
      const [sent] = spans(/^SMTP send$/);
      expect(sent?.status).to.equal(status);
      expect(sent?.attributes['sheaf.mail_kind']).to.equal('contact');
      expect(sent?.attributes['error.type']).to.equal(error);
      expect(spans(/^RunActivity:/).map(({ spanId }) => spanId)).to.include(sent?.parentSpanId);
      for (const known of ['operator@example.com', 'ada@example.com', message]) expect(collector.received.join('\n')).not.to.include(known);
    });
});
