import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { hashSecret, isSecret, makeSecret } from '../../domain/api-keys/secret.ts';

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
});
