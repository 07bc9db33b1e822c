import { expect } from 'chai';
import { until } from '../support/processes.ts';
import { type MailServer, startMailServer } from '../support/smtp.ts';
import { callOver } from '../support/transports.ts';
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
  const send = (input: Record<string, unknown>, address = newAddress()) =>
    callOver(api, 'REST', 'contact.send', input, { headers: { 'x-forwarded-for': address } });
  const queued = () => api.database.db.selectFrom('mail').selectAll().execute();

  it('mails the message to the operator, who can reply to its sender', async () => {
    const sent = await send({ email: 'ada@example.com', name: 'Ada Lovelace', message: `${message}\r\n\tÜber alles.` });
    expect([sent.status, sent.body]).to.deep.equal([200, { ok: true }]);
    await until(() => server.mails.length === 1);
    const [mail] = server.mails;
    expect(mail).to.deep.include({ from: 'no-reply@sheaf.example', to: ['operator@example.com'] });
    expect(mail?.header('Reply-To')).to.equal('Ada Lovelace <ada@example.com>');
    expect(mail?.header('Subject')).to.equal('Contact form: Ada Lovelace');
    expect(mail?.body).to.include('Ada Lovelace <ada@example.com> wrote').and.include(message).and.include('\tÜber alles.');
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
    for (const website of fillings) {
      const trapped = await send({ email: 'bot@example.com', message, website });
      expect([trapped.status, trapped.body], JSON.stringify(website).slice(0, 40)).to.deep.equal([200, { ok: true }]);
    }
    for (const website of ['x'.repeat(201), '😀'.repeat(201), 7]) {
      const refused = await send({ email: 'bot@example.com', message, website });
      expect(refused.body).to.include({ code: 'BAD_REQUEST', status: 400 });
      expect(refused.body.data.issues[0].path).to.deep.equal(['website']);
    }
    expect(await queued()).to.deep.equal([]);
    expect(server.mails).to.deep.equal([]);
  });

  it('is in a deployment that sends its mails, and therefore shows none', async () => {
    const admin = await api.signUp('Admin');
    await api.makePlatformAdmin(admin);
    const { status, body } = await callOver(api, 'REST', 'admin.mails.list', {}, { token: admin.token });
    expect([status, body.code]).to.deep.equal([412, 'PRECONDITION_FAILED']);
  });

  it('takes five messages an hour from one address together', async () => {
    const [address, other] = [newAddress(), newAddress()];
    const input = { email: 'ada@example.com', message, website: 'x' };
    for (let i = 0; i < 5; i++) expect((await send(input, address)).status).to.equal(200);
    const refused = await send(input, address);
    expect(refused.body).to.deep.include({ defined: true, code: 'TOO_MANY_REQUESTS', status: 429 });
    expect(Number(refused.headers.get('retry-after'))).to.be.within(3_500, 3_600);
    expect((await send(input, other)).status).to.equal(200);
  });

  it('refuses what could write a header, and says why', async () => {
    const controls = [
      { name: 'Ada\r\nBcc: all@example.com' },
      { name: 'Ada\u2028' },
      { name: 'Ada\u202emoc' },
      { message: `${message}\u0000` },
      { message: `${message}\u001b[2J` },
    ];
    for (const wrong of controls) {
      const refused = await send({ email: 'ada@example.com', message, ...wrong });
      expect(refused.body, JSON.stringify(wrong)).to.include({ defined: true, code: 'BAD_REQUEST', status: 400 });
      expect(refused.body.data.issues[0]).to.deep.include({ path: Object.keys(wrong), params: { reason: 'control_characters' } });
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

describe('The contact form of a deployment without an email provider', () => {
  const { api } = useApi({ env: { EMAIL_PROVIDER: 'none', CONTACT_EMAIL: 'operator@example.com', WORKER_ENABLED: 'false' } });

  it('says that it is not configured', async () => {
    const refused = await callOver(api, 'REST', 'contact.send', { email: 'ada@example.com', message: 'How are you doing?' });
    expect(refused.body).to.include({ defined: true, code: 'PRECONDITION_FAILED', status: 412 });
    expect(await api.database.db.selectFrom('mail').selectAll().execute()).to.deep.equal([]);
  });
});
