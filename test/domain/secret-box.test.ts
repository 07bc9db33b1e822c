import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createSecretBox } from '../../domain/secret-box.ts';

describe('A secret at rest', () => {
  const box = createSecretBox(randomBytes(32));

  it('is read again, and looks different each time', () => {
    for (const secret of ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'ключ 🔑', '']) {
      const [first, second] = [box.seal(secret), box.seal(secret)];
      expect(first).to.not.equal(second);
      expect([first, second].map(box.open)).to.deep.equal([secret, secret]);
      if (secret !== '') expect(first).to.not.include(secret);
    }
  });

  it('is sealed once, however often that is asked for', () => {
    const sealed = box.seal('a secret');
    expect(box.seal(sealed)).to.equal(sealed);
  });

  it('is read as it is, if it was stored before secrets were sealed', () => {
    expect(box.open('whsec_plain')).to.equal('whsec_plain');
  });

  it('is not read with another key, or if it was changed', () => {
    const sealed = box.seal('a secret');
    expect(() => createSecretBox(randomBytes(32)).open(sealed)).to.throw('encrypted with another AUTH_SECRET');
    const bytes = Buffer.from(sealed.slice('sealed.1.'.length), 'base64');
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    expect(createSecretBox(randomBytes(32)).tryOpen(sealed)).to.equal(undefined);
    expect(() => box.open(`sealed.1.${bytes.toString('base64')}`)).to.throw('encrypted with another AUTH_SECRET');
  });
});
