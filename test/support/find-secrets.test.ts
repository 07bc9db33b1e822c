import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeTestDirectory, removeTestDirectory } from './directories.ts';
import { findSecrets } from './find-secrets.ts';
import { keptLogs, partsOf, signaturesIn } from './run-secrets.ts';

const token = 'kAgCtQ2sVfYw0sQHnT3rWcq1fVfS6Zx9.c2lnbmF0dXJl%2Bof%2Fit%3D';
const text = 'The queen leaves the hive';

/** A line of a log for each thing that it must not hold, and one that is as it should be. */
const planted: [line: object, what: string[]][] = [
  [{ msg: 'request', requestId: 'c0a8e1de-1f6f-4c0e-9d0f-2b7cb8a3a1aa', operation: 'jobs.create', status: 200 }, []],
  [{ msg: `session ${token}` }, ['a token or key of a test']],
  [{ session: token.split('.')[0] }, ['a token or key of a test']],
  [{ authorization: 'Bearer abc.defghij' }, ['a bearer token']],
  [{ cookie: 'better-auth.session_token=abc' }, ['a session']],
  [{ path: '/uploads/a/b?expires=1&signature=abc' }, ['a signed link']],
  [{ url: 'https://storage.googleapis.com/b/o?X-Goog-Signature=abc' }, ['a signed link']],
  [{ url: 'https://b.s3.eu-central-1.amazonaws.com/o?X-Amz-Date=1&X-Amz-Signature=abc' }, ['a signed link']],
  [{ query: '&X-Amz-Credential=AKIA%2F20261123%2Feu-central-1&X-Amz-SignedHeaders=host' }, ['a signed link']],
  [{ query: '&X-Amz-Security-Token=abc' }, ['a signed link']],
  [{ url: 'https://b.s3.eu-central-1.amazonaws.com/o?X-Amz-Date=1&X-Amz-Expires=3600' }, []],
  [{ url: 'postgres://sheaf:word@localhost:5432/sheaf' }, ['a password in a URL']],
  [{ key: 'sk_test_123' }, ["a provider's key"]],
  [{ secret: 'whsec_123' }, ["a provider's key"]],
  [{ to: 'ada@example.com' }, ['a mail address']],
  [{ detail: `Failing row contains (1, "${text}", 2)` }, ['a text of a test']],
  [{ url: 'postgres://localhost:5432/sheaf', documentId: '7f9c24e8-3b12-4fef-91e0-17b4d0b0a1f5' }, []],
];

describe('The search of the logs at the end of a run', () => {
  let directory: string;
  before(() => {
    directory = makeTestDirectory();
    for (const name of ['logs', keptLogs]) mkdirSync(join(directory, name));
    const notes = [...partsOf(token).map((value) => ({ sort: 'token', value })), { sort: 'text', value: text }];
    writeFileSync(join(directory, 'secrets-1.jsonl'), notes.map((note) => `${JSON.stringify(note)}\n`).join(''));
  });
  after(() => removeTestDirectory(directory));

  for (const [line, what] of planted)
    it(`finds ${what.join() || 'nothing'} in ${JSON.stringify(line)}`, () => {
      const file = join(directory, keptLogs, 'api.log-1');
      writeFileSync(file, `{"msg":"API listening"}\n${JSON.stringify(line)}\n`);
      const { findings, lines } = findSecrets(directory);
      expect(findings.map(({ what: found }) => found)).to.deep.equal(what);
      expect(findings.every(({ at }) => at === `${keptLogs}/api.log-1:2`)).to.equal(true);
      expect(lines).to.equal(2);
    });

  it("searches the logs of the run's own services, and not that of Postgres", () => {
    const line = JSON.stringify({ msg: `session ${token}` });
    for (const name of ['ai.log', 'temporal.log', 'postgres.log']) writeFileSync(join(directory, 'logs', name), line);
    writeFileSync(join(directory, keptLogs, 'api.log-1'), '');
    expect(findSecrets(directory).findings.map(({ at }) => at)).to.have.members(['logs/ai.log:1', 'logs/temporal.log:1']);
  });

  it('knows what proves a link of each store', () => {
    const [signature, other] = ['0123456789abcdef'.repeat(4), 'fedcba9876543210'.repeat(4)];
    const session = 'FwoGZXIvYXdzEBYaDHNlY3JldFNlc3Npb24';
    const links = [
      `http://localhost/uploads/o/d?expires=1&signature=${signature}`,
      `https://storage.googleapis.com/b/o?X-Goog-Date=1&X-Goog-Signature=${other}`,
      `https://b.s3.amazonaws.com/o?X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F1&X-Amz-Signature=${other}&X-Amz-Security-Token=12%2F${session}%3D`,
    ];
    const parts = links.map((url) => new Set(signaturesIn(JSON.stringify({ url })).flatMap(partsOf)));
    expect(parts.map((each) => [...each])).to.deep.equal([[signature], [other], ['AKIAIOSFODNN7EXAMPLE', other, `2F${session}`, session]]);
  });
});
