import { expect } from 'chai';
import { startTestApi, type TestApi } from '../support/api.ts';
import { until } from '../support/processes.ts';
import { type MailServer, startMailServer } from '../support/smtp.ts';
import { callOver, transports } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

let addresses = 0;
/** Another client, so that the limit of one test does not meet the next. */
const newAddress = () => `198.51.100.${++addresses}`;

describe('The contact form', () => {
  let server: MailServer;
  const { api } = useApi({
    async env() {
      server = await startMailServer();
      return {
        SMTP_URL: server.url,
        EMAIL_FROM: 'Sheaf <no-reply@sheaf.example>',
        CONTACT_EMAIL: 'operator@example.com',
        TRUST_PROXY: 'true',
      };
    },
  });
  after(() => server.stop());
  beforeEach(() => {
    server.mails.length = 0;
  });

  const message = 'How do I raise my quota?';
  const send = (input: Record<string, unknown>, transport: 'REST' | 'RPC' = 'REST', address = newAddress()) =>
    callOver(api, transport, 'contact.send', input, { headers: { 'x-forwarded-for': address } });
  const queued = () => api.database.db.selectFrom('mail').selectAll().execute();

  for (const transport of transports) {
    it(`mails the message to the operator, who can reply to its sender, over ${transport}`, async () => {
      const sent = await send({ email: 'ada@example.com', name: 'Ada Lovelace', message: `${message}\r\n\tÜber alles.` }, transport);
      expect([sent.status, sent.body]).to.deep.equal([200, { ok: true }]);
      await until(() => server.mails.length === 1);
      const [mail] = server.mails;
      expect(mail).to.deep.include({ from: 'no-reply@sheaf.example', to: ['operator@example.com'] });
      expect(mail?.header('Reply-To')).to.equal('Ada Lovelace <ada@example.com>');
      expect(mail?.header('Subject')).to.equal('Contact form: Ada Lovelace');
      expect(mail?.body).to.include('Ada Lovelace <ada@example.com> wrote').and.include(message).and.include('\tÜber alles.');
    });
  }

  it('counts the /64 of an IPv6 address, and an IPv4 address however it is written', async () => {
    // Nothing is mailed, and it counts.
    const input = { email: 'ada@example.com', message, website: 'filled' };
    const from = async (address: string) => (await send(input, 'REST', address)).status;
    const sameNetwork = [
      '2001:db8:1:2::1',
      '2001:DB8:1:2::2',
      '2001:db8:1:2:ffff:ffff:ffff:ffff',
      '2001:0db8:0001:0002::4',
      '2001:db8:1:2:5::',
    ];
    for (const address of sameNetwork) expect(await from(address), address).to.equal(200);
    expect(await from('2001:db8:1:2:6::6')).to.equal(429);
    expect(await from('2001:db8:1:3::1')).to.equal(200);
    const sameAddress = ['203.0.113.9', '::ffff:203.0.113.9', '::ffff:cb00:7109', '::FFFF:203.0.113.9', '0:0:0:0:0:ffff:203.0.113.9'];
    for (const address of sameAddress) expect(await from(address), address).to.equal(200);
    expect(await from('::ffff:203.0.113.9')).to.equal(429);
    expect(await from('203.0.113.10')).to.equal(200);
  });

  it('answers a filled trap like any other message, and sends nothing', async () => {
    const trapped = await send({ email: 'bot@example.com', message, website: 'https://spam.example' });
    expect([trapped.status, trapped.body]).to.deep.equal([200, { ok: true }]);
    expect((await send({ email: 'ada@example.com', message, website: '' })).status).to.equal(200);
    await until(() => server.mails.length > 0);
    expect(server.mails.map((mail) => mail.header('Reply-To'))).to.deep.equal(['ada@example.com']);
    expect((await queued()).filter(({ reply_to_address }) => reply_to_address === 'bot@example.com')).to.deep.equal([]);
  });

  it('answers a trap that is filled with anything within its length, and only with that', async () => {
    const fillings = ['https://a.example\r\nhttps://b.example', '\u0000\u0007\u2028\ud800', '😀'.repeat(200), 'x'.repeat(200), ' '];
    for (const transport of transports) {
      for (const website of fillings) {
        const trapped = await send({ email: 'bot@example.com', message, website }, transport);
        expect([trapped.status, trapped.body], JSON.stringify(website).slice(0, 40)).to.deep.equal([200, { ok: true }]);
      }
      for (const website of ['x'.repeat(201), '😀'.repeat(201), 7]) {
        const refused = await send({ email: 'bot@example.com', message, website }, transport);
        expect(refused.body).to.include({ code: 'BAD_REQUEST', status: 400 });
        expect(refused.body.data.issues[0].path).to.deep.equal(['website']);
      }
    }
    expect(await queued()).to.deep.equal([]);
    expect(server.mails).to.deep.equal([]);
  });

  it('takes five messages an hour from one address, over both transports together', async () => {
    const [address, other] = [newAddress(), newAddress()];
    const input = { email: 'ada@example.com', message, website: 'x' };
    for (let i = 0; i < 5; i++) expect((await send(input, i % 2 ? 'RPC' : 'REST', address)).status).to.equal(200);
    for (const transport of transports) {
      const refused = await send(input, transport, address);
      expect(refused.body).to.deep.include({ defined: true, code: 'TOO_MANY_REQUESTS', status: 429 });
      expect(Number(refused.headers.get('retry-after'))).to.be.within(3_500, 3_600);
    }
    expect((await send(input, 'REST', other)).status).to.equal(200);
  });

  it('refuses what could write a header, and says why', async () => {
    const controls = [
      { name: 'Ada\r\nBcc: all@example.com' },
      { name: 'Ada\u2028' },
      { name: 'Ada\u202emoc' },
      { message: `${message}\u0000` },
      { message: `${message}\u001b[2J` },
    ];
    for (const transport of transports) {
      for (const wrong of controls) {
        const refused = await send({ email: 'ada@example.com', message, ...wrong }, transport);
        expect(refused.body, JSON.stringify(wrong)).to.include({ defined: true, code: 'BAD_REQUEST', status: 400 });
        expect(refused.body.data.issues[0]).to.deep.include({ path: Object.keys(wrong), params: { reason: 'control_characters' } });
      }
    }
    const addresses = [
      'ada@example.com\nBcc: all@example.com',
      'a@example.com, b@example.com',
      'Ada <ada@example.com>',
      'nobody',
      `${'x'.repeat(250)}@example.com`,
    ];
    for (const email of addresses) expect((await send({ email, message })).status, email).to.equal(400);
    for (const wrong of [
      { message: 'too short' },
      { message: 'x'.repeat(2001) },
      { name: 'x'.repeat(121) },
      { website: 'x'.repeat(201) },
    ]) {
      expect((await send({ email: 'ada@example.com', message, ...wrong })).status, JSON.stringify(wrong).slice(0, 30)).to.equal(400);
    }
    expect(server.mails).to.deep.equal([]);
    expect(await queued()).to.deep.equal([]);
  });

  it('keeps a name that looks like an address in its quotes', async () => {
    await send({ email: 'ada@example.com', name: 'Boss" <boss@example.com>, "x', message });
    await until(() => server.mails.length === 1);
    expect(server.mails[0]?.header('Reply-To')).to.equal('"Boss\\" <boss@example.com>, \\"x" <ada@example.com>');
  });
});

describe('The contact form of a deployment without', () => {
  let api: TestApi | undefined;
  afterEach(() => api?.stop());

  for (const [what, env] of [
    ['an address', {}],
    ['an email provider', { EMAIL_PROVIDER: 'none', CONTACT_EMAIL: 'operator@example.com' }],
  ] as const) {
    it(`${what} says that it is not configured`, async () => {
      api = await startTestApi({ env: { ...env, WORKER_ENABLED: 'false' } });
      for (const transport of transports) {
        const refused = await callOver(api, transport, 'contact.send', { email: 'ada@example.com', message: 'How are you doing?' });
        expect(refused.body).to.deep.equal({
          defined: true,
          code: 'PRECONDITION_FAILED',
          status: 412,
          message: 'The contact form is not configured on this deployment.',
        });
      }
      expect(await api.database.db.selectFrom('mail').selectAll().execute()).to.deep.equal([]);
    });
  }
});
