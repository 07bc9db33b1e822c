import { expect } from 'chai';
import { z } from 'zod';
import { contract } from '../../contract/index.ts';
import { displayName, toDisplayName } from '../../contract/names.ts';

const name = displayName({ max: 80 });
const invisible = [
  '\u200b',
  '\u2800',
  '\u3164',
  '\u00ad',
  '\u00a0',
  '\u2060\ufeff',
  '\u115f\u1160\uffa0',
  '\u200d\ufe0f',
  '\u{e0020}',
  ' ',
  '\u3000',
];
const turned = ['invoice\u202efdp.exe', '\u2066a\u2069', '\u202aa'];
const lawful = [
  'Ada',
  ' Ada ',
  '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
  '\u05d0\u200f!',
  '\u{1f469}\u200d\u{1f4bb}',
  'Booking.com',
  '.',
];

describe('A name', () => {
  it('shows something, on one line, as it is written', () => {
    for (const each of [...invisible, ...turned, '', 'two\nlines', 'two\u2028lines', 'x'.repeat(81)])
      expect(name.safeParse(each).success, JSON.stringify(each)).to.equal(false);
    for (const each of lawful) expect(name.safeParse(each).success, JSON.stringify(each)).to.equal(true);
  });

  it('has a pattern in the document that says so of every character', () => {
    const pattern = new RegExp((z.toJSONSchema(name) as { pattern: string }).pattern);
    for (let code = 0; code <= 0xffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCharCode(code);
      const shows = !/[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u2800]/u.test(character);
      const label = code.toString(16);
      expect(name.safeParse(character).success, label).to.equal(shows);
      expect(pattern.test(character), label).to.equal(shows);
    }
  });

  it('of a workspace or a document is one', () => {
    const { create } = contract.workspaces;
    const { createUpload } = contract.documents;
    const fields = { organizationId: 'o', workspaceId: 'w', slug: 'slug', contentType: 'text/plain', size: 1 };
    for (const { body } of [create, createUpload]) {
      expect(body.safeParse({ ...fields, name: 'Name' }).success).to.equal(true);
      for (const each of [...invisible, ...turned])
        expect(body.safeParse({ ...fields, name: each }).success, JSON.stringify(each)).to.equal(false);
    }
  });

  it('that a provider gave is made one', () => {
    expect(toDisplayName(' Ada\n\u202eLovelace\u0000 ', { max: 120 })).to.equal('Ada Lovelace');
    expect(toDisplayName('\u{1f469}'.repeat(130), { max: 120 })).to.equal('\u{1f469}'.repeat(120));
    for (const each of [undefined, null, '', ...invisible]) expect(toDisplayName(each, { max: 120 })).to.equal(undefined);
  });
});
