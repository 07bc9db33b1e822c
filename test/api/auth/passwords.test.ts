import { stat } from 'node:fs/promises';
import { expect } from 'chai';
import { passwords } from '../../../api/auth/passwords.ts';

describe('Passwords that are hashed at once', () => {
  it('leave threads for files', async () => {
    const hashes = Array.from({ length: 6 }, () => passwords.hash('a long password'));
    const first = await Promise.race([...hashes, stat('.').then(() => 'the file')]);
    expect(first).to.equal('the file');
    const [hash = ''] = await Promise.all(hashes);
    expect(await passwords.verify({ hash, password: 'a long password' })).to.equal(true);
    expect(await passwords.verify({ hash, password: 'another password' })).to.equal(false);
  });
});
