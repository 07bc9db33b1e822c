import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createSecretBox } from '../../domain/secret-box.ts';

describe('A secret at rest', () => {
  const box = createSecretBox(randomBytes(32));

  it('is not read with another key, or if it was changed', () => {
    const sealed = box.seal('a secret');
    expect(() => createSecretBox(randomBytes(32)).open(sealed)).to.throw('encrypted with another AUTH_SECRET');
    const bytes = Buffer.from(sealed.slice('sealed.1.'.length), 'base64');
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    expect(createSecretBox(randomBytes(32)).tryOpen(sealed)).to.equal(undefined);
    expect(() => box.open(`sealed.1.${bytes.toString('base64')}`)).to.throw('encrypted with another AUTH_SECRET');
  });
});
