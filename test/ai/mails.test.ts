import { expect } from 'chai';
import iconv from 'iconv-lite';
import { extraKinds as types } from '../../contract/content-types.ts';
import { makeDocx, wordParagraph } from './support/make-office.ts';
import { makeTextPdf } from './support/make-pdf.ts';
import { read } from './support/read.ts';

const readMail = (mail: string | Buffer) => read(mail, types.eml);

const lines = (...all: string[]) => all.join('\r\n');
const head = lines('From: Ann <ann@example.com>', 'To: bob@example.com', 'Subject: The gravel', 'MIME-Version: 1.0', '');
const shown = 'Subject: The gravel\nFrom: Ann <ann@example.com>\nTo: bob@example.com';
const part = (headers: string, body: string) => lines('--x', headers, '', body, '');
const multipart = (kind: string, ...parts: string[]) =>
  `${head}Content-Type: multipart/${kind}; boundary=x\r\n\r\n${parts.join('')}--x--\r\n`;
const mailOf = (subject: string, body: string) => lines('From: Carl <carl@example.com>', `Subject: ${subject}`, '', body);
const carl = (subject: string, body: string) => `Subject: ${subject}\nFrom: Carl <carl@example.com>\n\n${body}`;
const invitation = lines(
  'BEGIN:VCALENDAR',
  'METHOD:REQUEST',
  'BEGIN:VTIMEZONE',
  'TZID:Europe/Berlin',
  'END:VTIMEZONE',
  'BEGIN:VEVENT',
  'SUMMARY:Meeting of the bee keep',
  ' ers\\, spring',
  'DTSTART;TZID=Europe/Berlin:20260312T190000',
  'DTEND;TZID=Europe/Berlin:20260312T203000',
  'LOCATION:Hall 2\\, Harbour St',
  'DESCRIPTION:Bring\\nthe smoker.',
  'ORGANIZER;CN=Ann:mailto:ann@example.com',
  'ATTENDEE;CN="Bob B":mailto:bob@example.com',
  'ATTENDEE:mailto:eve@example.com',
  'END:VEVENT',
  'END:VCALENDAR',
  '',
);
const event = [
  'Event: Meeting of the bee keepers, spring',
  'When: 2026-03-12 19:00 to 2026-03-12 20:30 (Europe/Berlin)',
  'Where: Hall 2, Harbour St',
  'Organizer: Ann <ann@example.com>',
  'Attendees: Bob B <bob@example.com>, eve@example.com',
  '',
  'Bring\nthe smoker.',
].join('\n');

describe('A mail', () => {
  it('is read without a sender, and with blanks on the line before its text', async () => {
    const draft = lines(
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=x',
      '',
      part('Content-Type: text/plain', 'A draft.'),
      '--x--',
    );
    expect((await readMail(draft)).text).to.equal('A draft.');
    expect((await readMail(lines('Subject: Gravel', 'From: Ann <ann@example.com>', ' \t', 'We offer it.', '', 'Ann'))).text).to.equal(
      'Subject: Gravel\nFrom: Ann <ann@example.com>\n\nWe offer it.\n\nAnn',
    );
  });

  it('is read with who, when and what it is about, in their letters, and with nothing from elsewhere', async () => {
    const mail = lines(
      'From: =?utf-8?Q?In=C3=A9s_Halloran?= <ines@example.com>',
      'To: a@example.com, "B" <b@example.com>',
      'Subject: The gravel',
      'Date: Tue, 03 Mar 2026 10:00:00 +0000',
      'Content-Type: text/html',
      '',
      '<p>Who pays?</p><img src="http://127.0.0.1:9/pixel">',
    );
    expect((await readMail(mail)).text).to.match(
      /^Subject: The gravel\nFrom: Inés Halloran <ines@example\.com>\nTo: a@example\.com, B <b@example\.com>\nDate: .*2026.*\n\nWho pays\?$/,
    );
  });

  it('is read by the body that says most', async () => {
    const page = part(
      'Content-Type: text/html; charset=utf-8',
      '<h1>Offer</h1><p>We offer 40 tons of gravel at 12.50 each, on Monday.</p>',
    );
    const stub = multipart(
      'alternative',
      part('Content-Type: text/plain', 'Please view this mail as HTML: https://example.com/a-long-address-of-the-page'),
      page,
    );
    expect((await readMail(stub)).text).to.equal(`${shown}\n\nOffer\n\nWe offer 40 tons of gravel at 12.50 each, on Monday.`);
    const both = multipart('alternative', part('Content-Type: text/plain', 'OFFER\r\nWe offer 40 tons of gravel at 12.50 each.'), page);
    expect((await readMail(both)).text).to.equal(`${shown}\n\nOFFER\nWe offer 40 tons of gravel at 12.50 each.`);
  });

  it('is read by both bodies if they say different things', async () => {
    const talk = 'This message was made for programs that show pages. If you can read this line, yours does not, or it was told not to.';
    const two = multipart(
      'alternative',
      part('Content-Type: text/plain', talk),
      part('Content-Type: text/html; charset=utf-8', '<p>Invoice 2207</p><p>Due: 148.20 EUR by 3 May</p>'),
    );
    expect((await readMail(two)).text).to.equal(`${shown}\n\n${talk}\n\nInvoice 2207\n\nDue: 148.20 EUR by 3 May`);
    const sale = 'Welcome to our spring garden sale, with roses and tulips for everyone who visits.';
    const beside = async (plain: string) => {
      const parts = [part('Content-Type: text/plain; charset=utf-8', plain), part('Content-Type: text/html', `<p>${sale}</p>`)];
      return (await readMail(multipart('alternative', ...parts))).text.slice(`${shown}\n\n`.length);
    };
    for (const other of ['Your code is 4711-9923. It ends at noon on Friday.', 'Your browser showed code 4711.', 'The gate is locked.'])
      expect(await beside(other)).to.equal(`${other}\n\n${sale}`);
    for (const same of ['Spring garden sale: roses and tulips', 'Bitte im Browser öffnen.', 'https://example.com/mails/4711'])
      expect(await beside(same), same).to.equal(sale);
  });

  it('is read by both bodies however long they go on without a space', async () => {
    const long = '語'.repeat(200_000);
    const both = multipart(
      'alternative',
      part('Content-Type: text/plain; charset=utf-8', long),
      part('Content-Type: text/html; charset=utf-8', `<p>${long}</p>`),
    );
    expect((await readMail(both)).text === `${shown}\n\n${long}`).to.equal(true);
  });

  it('is read with what it names no charset for, and says so', async () => {
    const russian = 'Забор починят в мае. Собрание жильцов состоится в четверг.';
    for (const type of ['', 'Content-Type: text/plain; charset=us-ascii\r\n']) {
      const { text, notices } = await readMail(
        Buffer.concat([Buffer.from(head + type), iconv.encode(`\r\n${russian}\r\n`, 'windows-1251')]),
      );
      expect(text).to.equal(`${shown}\n\n${russian}`);
      expect(notices?.map(({ code }) => code)).to.deep.equal(['charset_guessed']);
    }
    // Only the page names it.
    const page = `Content-Type: text/html\r\n\r\n<html><head><meta charset="windows-1251"></head><body><p>${russian}</p></body></html>`;
    expect((await readMail(iconv.encode(head + page, 'windows-1251'))).text).to.equal(`${shown}\n\n${russian}`);
    const german = 'Subject: Größe der Räume\r\n\r\nDie Übergabe der Schlüssel erfolgt am Montag.';
    expect((await readMail(iconv.encode(german, 'windows-1252'))).text).to.equal(german.replace(/\r\n/g, '\n'));
    const declared = Buffer.concat([
      Buffer.from(`${head}Content-Type: text/plain; charset=koi8-r\r\n\r\n`),
      iconv.encode(russian, 'koi8-r'),
    ]);
    expect(await readMail(declared))
      .to.include({ text: `${shown}\n\n${russian}` })
      .and.not.have.property('notices');
  });

  it('is read by the likelier charset if it names one that nobody knows, and says so', async () => {
    const body = (label: string, encoded: string) =>
      `${head}Content-Type: text/plain;\r\n charset="${label}"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${encoded}\r\n`;
    for (const [label, encoded, charset] of [
      ['x-unknown', 'Gr=C3=B6=C3=9Fe', 'utf-8'],
      ['latin_1', 'Gr=F6=DFe', 'windows-1252'],
    ] as const) {
      const { text, notices } = await readMail(body(label, encoded));
      expect(text).to.equal(`${shown}\n\nGröße`);
      const told = `Nobody knows the charset ${label}. The mail was read as ${charset}.`;
      expect(notices).to.deep.equal([{ code: 'charset_guessed', text: told }]);
    }
    expect(await readMail(body('iso-8859-1', 'Gr=F6=DFe')))
      .to.include({ text: `${shown}\n\nGröße` })
      .and.not.have.property('notices');
  });

  it('is read in UTF-16, and behind a blank line', async () => {
    const mail = `${head}\r\nThe fence, größer.\r\n`;
    for (const bytes of [iconv.encode(mail, 'utf-16le', { addBOM: true }), iconv.encode(mail, 'utf-16be'), Buffer.from(`\r\n \r\n${mail}`)])
      expect((await readMail(bytes)).text).to.equal(`${shown}\n\nThe fence, größer.`);
  });

  it('is read with its invitation: what, when, where and who', async () => {
    const calendar = 'Content-Type: text/calendar; charset=utf-8; method=REQUEST';
    expect((await readMail(`${head}${calendar}\r\n\r\n${invitation}`)).text).to.equal(`${shown}\n\n${event}`);
    const invited = multipart('alternative', part('Content-Type: text/plain', 'Ann invites you.'), part(calendar, invitation));
    expect(await readMail(invited))
      .to.include({ text: `${shown}\n\nAnn invites you.\n\n${event}` })
      .and.not.have.property('notices');
    const canceled = invitation.replace('METHOD:REQUEST', 'METHOD:CANCEL').replaceAll(/DT(START|END);TZID.*T(\d+)/g, 'DT$1:20260312T$2Z');
    const { text } = await readMail(`${head}${calendar}\r\n\r\n${canceled}`);
    expect(text).to.contain('Canceled event: Meeting').and.contain('When: 2026-03-12 19:00 to 2026-03-12 20:30 (UTC)');
    const weekly = invitation.replace(
      /DTEND.*/,
      lines('DURATION:PT1H30M', 'EXDATE;TZID=Europe/Berlin:20260319T190000,20260326T190000', 'URL:https://example.com/hall'),
    );
    const twice = multipart('mixed', part(calendar, weekly), part('Content-Type: application/ics; name=invite.ics', weekly));
    const more = 'Except: 2026-03-19 19:00, 2026-03-26 19:00\nLink: https://example.com/hall\n\nBring';
    expect((await readMail(twice)).text).to.equal(`${shown}\n\n${event.replace('\nBring', more)}`);
    const days = invitation
      .replace(/DTSTART.*/, 'DTSTART;VALUE=DATE:20260312')
      .replace('ATTENDEE;', 'COMMENT:I am away.\r\nATTENDEE;PARTSTAT=DECLINED;');
    const dayOf = async (end: string) => (await readMail(`${head}${calendar}\r\n\r\n${days.replace(/DTEND.*/, end)}`)).text;
    const oneDay = await dayOf('DTEND;VALUE=DATE:20260313');
    expect(oneDay).to.contain('When: 2026-03-12\n').and.contain('Bob B <bob@example.com> (declined)').and.contain('Comment: I am away.');
    expect(await dayOf('DURATION:P2D')).to.contain('When: 2026-03-12 to 2026-03-13\n');
    for (const damaged of ['DURATION:-P3000000000D', 'DURATION:1H', 'EXDATE:'])
      expect(await dayOf(damaged), damaged).to.contain('When: 2026-03-12\n');
    const broken = multipart('mixed', part('Content-Type: text/plain', 'Hm.'), part(`${calendar}; name=a.ics`, 'BEGIN:VCALENDAR'));
    const { notices } = await readMail(broken);
    expect(notices).to.deep.equal([{ code: 'part_not_read', text: 'An attachment was not read: a.ics.' }]);
  });

  it('is read with the mails in it: attached, forwarded, and of a digest', async () => {
    const inner = mailOf('The pit', 'The pit is empty.');
    for (const headers of [
      'Content-Type: message/rfc822',
      'Content-Type: message/rfc822; name="old.eml"\r\nContent-Disposition: attachment; filename="old.eml"',
      'Content-Type: application/octet-stream; name="old.eml"\r\nContent-Disposition: attachment; filename="old.eml"',
    ]) {
      const mail = multipart('mixed', part('Content-Type: text/plain', 'See below.'), part(headers, inner));
      expect((await readMail(mail)).text, headers).to.equal(`${shown}\n\nSee below.\n\n${carl('The pit', 'The pit is empty.')}`);
    }
    const digest = multipart('digest', part('', inner), part('', mailOf('The new pit', 'It is full.')));
    expect((await readMail(digest)).text).to.equal(
      [shown, carl('The pit', 'The pit is empty.'), carl('The new pit', 'It is full.')].join('\n\n'),
    );
  });

  it('is read with its attachments of kinds that are taken, at its end, also those of a mail within it', async () => {
    const file = (type: string, name: string, content: Buffer | string) =>
      part(
        `Content-Type: ${type}; name="${name}"\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="${name}"`,
        Buffer.from(content).toString('base64'),
      );
    const inner = multipart('mixed', part('Content-Type: text/plain', 'The list.'), file('text/csv', 'list.csv', 'sand;3')).replace(
      /(?<=boundary=|--)x/g,
      'y',
    );
    const mail = multipart(
      'mixed',
      part('Content-Type: text/plain', 'See below.'),
      file('application/pdf', 'bill.pdf', makeTextPdf('Pay 40.')),
      file('application/octet-stream', 'offer.docx', makeDocx(wordParagraph('We offer gravel.'))),
      part('Content-Type: message/rfc822', inner),
      file('application/zip', 'all.zip', 'PK'),
    );
    const { text, outline, notices } = await readMail(mail);
    const names = 'Attachment: bill.pdf\nAttachment: offer.docx\nAttachment: all.zip';
    const files = ['bill.pdf\n\nPay 40.', 'offer.docx\n\nWe offer gravel.\n\nA footnote.', 'list.csv\n\nsand;3'];
    expect(text).to.equal([shown, 'See below.', `${shown}\n\nThe list.\n\nAttachment: list.csv`, names, ...files].join('\n\n'));
    expect(outline.headings.map(({ title }) => title)).to.deep.equal(['bill.pdf', 'offer.docx', 'list.csv']);
    expect(notices).to.deep.equal([{ code: 'part_not_read', text: 'An attachment was not read: all.zip.' }]);
  });

  it('is read with lines that flow, and quotes that do', async () => {
    const body = lines('We offer ', '40 tons.', '> How much ', '> do you have, ', '> Ann? ', '>> Ask ', '>> her. ');
    const flowed = `${head}Content-Type: text/plain; charset=utf-8; format=flowed\r\n\r\n${body}`;
    const found = `${shown}\n\nWe offer 40 tons.\n> How much\n> do you have,\n> Ann?\n>> Ask\n>> her.`;
    expect((await readMail(flowed)).text).to.equal(found);
    const coded = flowed.replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n').replaceAll(' \r\n', '=20\r\n');
    expect((await readMail(coded)).text).to.equal(found);
    expect((await readMail(`${head}\r\n> x =20\r\n`)).text).to.equal(`${shown}\n\n> x =20`);
    const wide = flowed.replace('> How', `>${' '.repeat(300_000)}How`);
    expect((await readMail(wide)).text).to.match(/> +How much\n/);
  });

  it('is read with why it could not be delivered', async () => {
    const report = multipart(
      'report',
      part('Content-Type: text/plain', 'Sorry.'),
      part('Content-Type: message/delivery-status', 'Diagnostic-Code: smtp; 550 unknown user'),
      part('Content-Type: message/disposition-notification', 'Disposition: deleted'),
      part('Content-Type: text/rfc822-headers', 'Subject: Sand'),
    );
    const found = await readMail(report);
    expect(found.text).to.equal(`${shown}\n\nSorry.\n\nDiagnostic-Code: smtp; 550 unknown user\n\nDisposition: deleted\n\nSubject: Sand`);
    expect(found).to.not.have.property('notices');
  });

  it('tells of a picture in it that may be all that it says, and of none that is a logo', async () => {
    const mailWith = (kind: string, words: string, type: string, bytes: number, name = '1.bin') =>
      multipart(
        kind,
        part('Content-Type: text/html', `<p>${words}</p><img src="cid:a">`),
        part(`Content-Type: ${type}; name=${name}\r\nContent-ID: <a>\r\nContent-Disposition: inline`, 'x'.repeat(bytes)),
      );
    const related = (words: string, type: string, bytes: number, name?: string) => mailWith('related', words, type, bytes, name);
    const told = ['An attachment was not read: 1.bin.'];
    const noticesOf = async (mail: string) => ((await readMail(mail)).notices ?? []).map(({ text }) => text);
    expect(await noticesOf(related('See', 'image/png', 40_000))).to.deep.equal(told);
    expect(await noticesOf(related('See', 'image/png', 4_000))).to.deep.equal([]);
    expect(await noticesOf(related('See', 'application/octet-stream', 4_000, '1.gif'))).to.deep.equal([]);
    expect(await noticesOf(mailWith('mixed', 'See', 'image/png', 4_000))).to.deep.equal(told);
    expect(await noticesOf(related('Much is said. '.repeat(20), 'image/png', 40_000))).to.deep.equal([]);
    expect(await noticesOf(related('Much is said. '.repeat(20), 'application/zip', 4_000))).to.deep.equal(told);
  });

  it('names what it does not read: other attachments, and mails that nest too deeply', async () => {
    const file = (name: string) =>
      part(`Content-Type: application/pdf; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"`, 'x');
    const { text, notices } = await readMail(
      multipart('mixed', part('Content-Type: text/plain', 'See.'), file('bill.pdf'), file('plan.pdf')),
    );
    expect(text).to.equal(`${shown}\n\nSee.\n\nAttachment: bill.pdf\nAttachment: plan.pdf`);
    expect(notices).to.deep.equal([{ code: 'part_not_read', text: '2 attachments were not read: bill.pdf, plan.pdf.' }]);
    const many = Array.from({ length: 51 }, (_, index) => part(`Content-Type: text/csv; name="${index}.csv"`, 'sand;3'));
    const most = await readMail(multipart('mixed', part('Content-Type: text/plain', 'See.'), ...many));
    expect(most.notices?.map((notice) => notice.text)).to.deep.equal(['An attachment was not read: 50.csv.']);
    let deep = mailOf('0', 'the innermost');
    for (let depth = 1; depth < 12; depth += 1) deep = lines(`Subject: ${depth}`, 'Content-Type: message/rfc822', '', deep);
    const nested = await readMail(deep);
    expect(nested.text).to.not.contain('the innermost');
    expect(nested.notices?.[0]?.code).to.equal('part_not_read');
  });
});
