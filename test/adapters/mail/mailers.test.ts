import { readdirSync, readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { createMailer } from '../../../adapters/mail/create-mailer.ts';
import { toHtml } from '../../../adapters/mail/html.ts';
import { openMailbox } from '../../../adapters/mail/mailbox.ts';
import { MailError, type OutgoingMail } from '../../../adapters/mail/port.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { type MailServer, startMailServer } from '../../support/smtp.ts';

const from = 'Sheaf <no-reply@sheaf.example>';
const urls = { apiUrl: 'https://sheaf.example', webUrl: 'https://app.sheaf.example' };
const signed = (text: string) => `${text.trimEnd()}\n\n-- \nSheaf & Söhne`;
const mail: OutgoingMail = {
  id: '0198d2c4-7e2a-7b61-9d0f-3f6f2d1b9a10',
  kind: 'verification',
  to: 'ada@example.com',
  replyTo: null,
  subject: 'Grüße aus Zürich',
  text: 'Öffne diesen Link:\n\nhttps://sheaf.example/verify?token=abc=def&next=a-rather-long-address-that-no-line-of-76-characters-holds\n',
  createdAt: new Date('2026-11-21T12:00:00.000Z'),
};

async function errorOf(send: Promise<void>): Promise<MailError> {
  const error = await send.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).to.be.instanceOf(MailError);
  return error as MailError;
}

describe('The SMTP mailer', () => {
  let server: MailServer;
  before(async () => {
    server = await startMailServer();
  });
  after(() => server.stop());
  beforeEach(() => {
    server.refuseWith = undefined;
    server.mails.length = 0;
  });
  const send = (values: Partial<OutgoingMail> = {}, smtpUrl = server.url, signal?: AbortSignal) =>
    createMailer({
      dataDir: '.',
      email: { provider: 'smtp', smtpUrl, from, senderName: 'Sheaf & Söhne', contactAddress: undefined },
      ...urls,
    }).send({ ...mail, ...values }, signal);

  it('sends text, with everything where mail programs look for it', async () => {
    await send({ replyTo: { address: 'eve@example.com', name: 'Eve "E" O’Neill' } });
    const [received] = server.mails;
    expect(received).to.deep.include({ from: 'no-reply@sheaf.example', to: ['ada@example.com'] });
    expect(received?.header('From')).to.equal(from);
    expect(received?.header('Reply-To')).to.match(/^=\?UTF-8\?.*\?= <eve@example\.com>$/);
    expect(received?.header('Message-ID')).to.equal(`<${mail.id}@sheaf.example>`);
    expect(received?.header('Date')).to.equal('Sat, 21 Nov 2026 12:00:00 +0000');
    expect(received?.header('Auto-Submitted')).to.equal('auto-generated');
    expect(received?.header('Content-Type')).to.match(/^multipart\/alternative;/);
    expect(received?.body.replaceAll('\r\n', '\n').trim()).to.equal(signed(mail.text));
    expect(received?.html).to.include('<p>Öffne diesen Link:</p>').and.include('>Grüße aus Zürich</a>');
  });

  it('writes no header that a subject or a name asks for', async () => {
    const evil = 'Hello\r\nBcc: everyone@example.com\r\n\r\nA body of their own';
    await send({ subject: evil, replyTo: { address: 'eve@example.com', name: evil } });
    expect(server.mails[0]?.to).to.deep.equal(['ada@example.com']);
    expect(server.mails[0]?.header('Bcc')).to.equal(undefined);
    expect(server.mails[0]?.header('Reply-To')).to.include('<eve@example.com>');
    expect(server.mails[0]?.body.trimEnd()).to.not.match(/^A body of their own/);
  });

  it('tells a refusal of the mail from trouble that may pass, without naming the recipient', async () => {
    server.refuseWith = 550;
    const refused = await errorOf(send());
    expect(refused).to.include({ code: 'mail_refused', final: true, message: 'The mail server refuses this mail (550).' });
    server.refuseWith = 451;
    const later = await errorOf(send());
    expect(later).to.include({ code: 'mail_not_sent', final: false });
    expect(later.message).to.not.include('ada');
    const nobodyThere = await errorOf(send({}, 'smtp://127.0.0.1:9'));
    expect(nobodyThere).to.include({ code: 'mail_not_sent', final: false });
    expect(nobodyThere.message).to.include('ESOCKET');
  });

  it('leaves a server that goes on and on when it is told to', async () => {
    const left = Promise.withResolvers<void>();
    const slow = createServer((socket) => {
      const greeting = setInterval(() => socket.write('220-wait a little\r\n'), 20);
      socket.on('error', () => {});
      socket.on('close', () => {
        clearInterval(greeting);
        left.resolve();
      });
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const { port } = slow.address() as AddressInfo;
    try {
      const error = await errorOf(send({}, `smtp://127.0.0.1:${port}`, AbortSignal.timeout(200)));
      expect(error).to.include({ code: 'mail_not_sent', final: false });
      await left.promise;
    } finally {
      slow.close();
    }
  }).timeout(8_000);
});

describe('The mailbox on disk', () => {
  let dataDir: string;
  before(() => {
    dataDir = makeTestDirectory();
  });
  after(() => removeTestDirectory(dataDir));
  const mailboxEmail = { provider: 'mailbox', smtpUrl: undefined, from, senderName: 'Sheaf & Söhne', contactAddress: undefined } as const;
  const mailbox = () =>
    createMailer({
      dataDir,
      email: mailboxEmail,
      ...urls,
    });

  it('keeps one file for each mail, as it is read, for its owner only', async () => {
    await mailbox().send(mail);
    await mailbox().send(mail);
    await mailbox().send({
      ...mail,
      id: 'another-id-0001',
      to: '../../etc/x@example.com',
      replyTo: { address: 'eve@example.com', name: 'Eve "E"' },
    });
    const names = readdirSync(join(dataDir, 'mail')).sort();
    expect(names).to.deep.equal([
      '2026-11-21T12-00-00.000Z-verification-.._.._etc_x@example.com--id-0001.eml',
      '2026-11-21T12-00-00.000Z-verification-ada@example.com-2d1b9a10.eml',
    ]);
    const [other = '', file = ''] = names.map((name) => join(dataDir, 'mail', name));
    expect(readFileSync(file, 'utf8')).to.equal(
      [
        `From: ${from}`,
        'To: ada@example.com',
        'Subject: Grüße aus Zürich',
        'Date: Sat, 21 Nov 2026 12:00:00 +0000',
        `Message-ID: <${mail.id}@sheaf.example>`,
        'MIME-Version: 1.0',
        `Content-Type: multipart/alternative; boundary="${mail.id}"`,
        '',
        `--${mail.id}`,
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: 8bit',
        '',
        signed(mail.text),
        `--${mail.id}`,
        'Content-Type: text/html; charset=utf-8',
        'Content-Transfer-Encoding: 8bit',
        '',
        `${toHtml(mail, { name: 'Sheaf & Söhne', origins: ['https://sheaf.example'] })}--${mail.id}--`,
        '',
      ].join('\n'),
    );
    expect(readFileSync(other, 'utf8')).to.include('\nReply-To: "Eve \\"E\\"" <eve@example.com>\n');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const box = openMailbox({ dataDir, email: mailboxEmail });
    const { id, to, subject, createdAt } = mail;
    expect(await box?.list({ limit: 1, offset: 0 })).to.deep.equal({
      items: [{ id, to, subject, createdAt, text: signed(mail.text) }],
      total: 2,
    });
    const [older] = (await box?.list({ limit: 10, offset: 1 }))?.items ?? [];
    expect(older).to.deep.include({ id: 'another-id-0001', to: '../../etc/x@example.com' });
  });

  it('writes no header that a subject asks for', async () => {
    await mailbox().send({ ...mail, id: 'with-a-break', subject: 'Hello\nBcc: everyone@example.com' });
    const [name = ''] = readdirSync(join(dataDir, 'mail')).filter((each) => each.includes('-a-break'));
    expect(readFileSync(join(dataDir, 'mail', name), 'utf8')).to.include('\nSubject: Hello Bcc: everyone@example.com\n');
  });
});

describe('No email provider', () => {
  it('holds mails back until there is one', async () => {
    const none = createMailer({
      dataDir: '.',
      email: { provider: 'none', smtpUrl: undefined, from, senderName: 'Sheaf & Söhne', contactAddress: undefined },
      ...urls,
    });
    expect(await errorOf(none.send(mail))).to.include({ code: 'no_provider', final: false });
  });
});
