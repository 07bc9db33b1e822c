import { expect } from 'chai';
import { takeUuencoded } from '../../ai/formats/mail/uuencoded.ts';
import { extraKinds as types } from '../../contract/content-types.ts';
import { processorSeconds } from '../support/hostile-texts.ts';
import { read } from './support/read.ts';

const head = 'From: Ann <ann@example.com>\nSubject: The kiln\n';
const shown = 'Subject: The kiln\nFrom: Ann <ann@example.com>';

const readMail = (mail: string) => read(Buffer.from(mail, 'latin1'), types.eml);

// Made by Python's binascii.b2a_uu.
const rules = ['begin 644 kiln rules.txt', '=3W!E;B!T:&4@:VEL;B!A="`Y,"!D96=R965S+@H`', '`', 'end'].join('\n');
/** A line of it has lost the spaces at its end, which mean zeros, and its first line has too many. */
const picture = ['begin 0600 kiln.gif  ', '(1TE&.#EA  $ ', "'_P          ".trimEnd(), ' ', 'end'].join('\r\n');

describe('A mail from before MIME', () => {
  it('has its uuencoded files as attachments, read if their kind is taken, and none of their signs in its text', async () => {
    const found = await readMail(`${head}\nHello,\n\n${rules}\nand\n${picture}\nbye\n`);
    expect(found.text).to.equal(
      `${shown}\n\nHello,\n\nand\nbye\n\nAttachment: kiln rules.txt\nAttachment: kiln.gif\n\nkiln rules.txt\n\nOpen the kiln at 90 degrees.\n`,
    );
    expect(found.notices).to.deep.equal([{ code: 'part_not_read', text: 'An attachment was not read: kiln.gif.' }]);
  });

  it('says that a file was not read of which the end is missing', async () => {
    const { text, notices } = await readMail(`${head}\nHello,\n${rules.slice(0, -6)}`);
    expect(text).to.equal(`${shown}\n\nHello,\n\nAttachment: kiln rules.txt`);
    expect(notices?.map((notice) => notice.text)).to.deep.equal(['An attachment was not read: kiln rules.txt.']);
  });

  it('may tell of a beginning and an end in words', async () => {
    for (const words of ['begin 644 firing\nat noon, and then\nend', 'begin 12 TIMES\nOPEN IT\nend', 'begin 644 A\n`\nend'])
      expect((await readMail(`${head}\n${words}\n`)).text).to.equal(`${shown}\n\n${words}`);
  });

  it('has a part whose encoding it names', async () => {
    const encoded =
      'Content-Type: application/octet-stream; name=a.txt\nContent-Transfer-Encoding: x-uuencode\nContent-Disposition: attachment';
    const { text } = await readMail(`${head}Content-Type: multipart/mixed; boundary=x\n\n--x\n${encoded}\n\n${rules}\n--x--\n`);
    expect(text).to.equal(`${shown}\n\nAttachment: a.txt\n\na.txt\n\nOpen the kiln at 90 degrees.\n`);
  });

  it('may have a text attached that begins with such a file, and keeps what stands behind it', async () => {
    const headers = 'Content-Type: text/plain; name=a.txt\nContent-Disposition: attachment';
    for (const rest of ['Then close it.', rules]) {
      const { text } = await readMail(`${head}Content-Type: multipart/mixed; boundary=x\n\n--x\n${headers}\n\n${rules}\n${rest}\n--x--\n`);
      expect(text.trim()).to.equal(`${shown}\n\nAttachment: a.txt\n\na.txt\n\n${rules}\n${rest}`);
    }
  });

  it('is read in time if a name in it is long, or its lines are many', async () => {
    const name = `begin 644 a${' '.repeat(80_000)}b`;
    const seconds = await processorSeconds(async () => expect((await readMail(`${head}\n${name}\n`)).text).to.equal(`${shown}\n\n${name}`));
    expect(seconds).to.be.below(1);
    const lines = `begin 644 a\n#86)C\n${'!\n'.repeat(5_000_000)}\`\nend`;
    const taken = () => expect(takeUuencoded(lines).files[0]?.bytes.length).to.equal(5_000_003);
    expect(await processorSeconds(taken)).to.be.below(4);
  });
});
