import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { hashSecret, isSecret, makeSecret, prefixOf } from '../../domain/api-keys/secret.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('The secret of an API key', () => {
  it('has the form that is documented for scanners of secrets', () => {
    for (let count = 0; count < 200; count += 1) {
      const [, random = '', checksum = ''] = /^sheaf_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(makeSecret()) ?? [];
      const value = [...checksum].reduce((sum, digit) => sum * 62 + alphabet.indexOf(digit), 0);
      expect(value).to.equal(crc32(random));
    }
  });

  it('is known by its checksum, whatever character is changed', () => {
    const secret = makeSecret();
    expect(isSecret(secret)).to.equal(true);
    for (let at = 0; at < secret.length; at += 1) {
      const other = secret[at] === 'q' ? 'r' : 'q';
      expect(isSecret(`${secret.slice(0, at)}${other}${secret.slice(at + 1)}`), `at ${at}`).to.equal(false);
    }
    for (const text of ['', 'sheaf_', `${secret}0`, ` ${secret}`, secret.slice(0, -1), hashSecret(secret)])
      expect(isSecret(text), text).to.equal(false);
  });

  it('uses every character alike, and shows at most four of the random ones', () => {
    const counts = new Map<string, number>();
    for (let made = 0; made < 2_000; made += 1)
      for (const character of makeSecret().slice(6, 38)) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).to.equal(62);
    // 64,000 characters of 62 sorts: 1,032 of each, give or take 32. Seven times that is chance once in a hundred thousand million.
    for (const [character, count] of counts) expect(count, character).to.be.within(800, 1_270);
    expect(prefixOf(makeSecret())).to.have.length(10);
  });
});
