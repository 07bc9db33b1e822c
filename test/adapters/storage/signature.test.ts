import { expect } from 'chai';
import { type Grant, readGrant, signGrant } from '../../../adapters/storage/signature.ts';
import { deriveKey } from '../../../base/config/keys.ts';

const secret = deriveKey('a secret of sixteen letters', 'signed-url');
const expiresAt = new Date('2026-01-01T00:00:10.000Z');
const inTime = new Date('2026-01-01T00:00:09.999Z');
const upload = { method: 'PUT', key: 'org/doc', contentType: 'text/plain' } as const satisfies Grant;
const download = { method: 'GET', key: 'org/doc', contentType: 'text/plain', fileName: 'Ü & ä=?.txt' } as const satisfies Grant;

describe('signed query strings', () => {
  it('give back what they were signed for', () => {
    const put = { method: 'PUT', key: 'org/doc', contentType: 'text/plain', now: inTime } as const;
    expect(readGrant(secret, { ...put, query: signGrant(secret, upload, expiresAt) })).to.deep.equal(upload);
    const query = new URLSearchParams(signGrant(secret, download, expiresAt).toString());
    expect(readGrant(secret, { method: 'GET', key: 'org/doc', query, now: inTime })).to.deep.equal(download);
  });

  it('end at their expiry', () => {
    const query = signGrant(secret, download, expiresAt);
    expect(readGrant(secret, { method: 'GET', key: 'org/doc', query, now: expiresAt })).to.equal(undefined);
  });

  it('hold for one method only', () => {
    const query = signGrant(secret, upload, expiresAt);
    query.set('contentType', 'text/plain');
    query.set('fileName', '');
    expect(readGrant(secret, { method: 'GET', key: 'org/doc', query, now: inTime })).to.equal(undefined);
  });

  it('do not let a part of one field pass for a part of the next', () => {
    const query = signGrant(secret, { ...download, contentType: 'text/plain', fileName: 'a.txt' }, expiresAt);
    query.set('contentType', 'text/plaina');
    query.set('fileName', '.txt');
    expect(readGrant(secret, { method: 'GET', key: 'org/doc', query, now: inTime })).to.equal(undefined);
  });

  it('are worthless under another secret, and under another purpose of the same', () => {
    const query = signGrant(secret, download, expiresAt);
    for (const other of [deriveKey('another secret of letters', 'signed-url'), deriveKey('a secret of sixteen letters', 'cursor')])
      expect(readGrant(other, { method: 'GET', key: 'org/doc', query, now: inTime })).to.equal(undefined);
  });
});
