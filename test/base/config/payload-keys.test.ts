import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { findProblems } from '../../../base/config/environment.ts';
import { loadOpsConfig } from '../../../base/config/ops.ts';
import { loadServerConfig } from '../../../base/config/server.ts';

const [a, b] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')] as const;
const env = { DATABASE_URL: 'postgres://db/sheaf', AUTH_SECRET: 'another secret of a test' };
const keysOf = (value?: string) => loadServerConfig({ ...env, TEMPORAL_PAYLOAD_KEYS: value }).temporal.payloadKeys;
const idsOf = ({ current, known }: ReturnType<typeof keysOf>) => [current?.id, known.map(({ id }) => id)];

describe('TEMPORAL_PAYLOAD_KEYS', () => {
  it('has the key that encrypts first, and then those that decrypt', () => {
    expect(idsOf(keysOf())).to.deep.equal([undefined, []]);
    expect(idsOf(keysOf(`new:${a},old:${b}`))).to.deep.equal(['new', ['new', 'old']]);
    expect(idsOf(keysOf(`new:${a}\n old:${b} `))).to.deep.equal(['new', ['new', 'old']]);
    expect(idsOf(keysOf(`plain,old:${b}`))).to.deep.equal([undefined, ['old']]);
    expect(keysOf(`2026.1:${a}`).current?.bytes.toString('base64')).to.equal(a);
  });

  for (const [value, problem] of [
    [a, 'number 1 must be ID:KEY, with an id of letters, digits, dots and hyphens'],
    [`a:${a},`, 'number 2 must be ID:KEY, with an id of letters, digits, dots and hyphens'],
    [`plain,an id:${a}`, 'number 2 must be ID:KEY, with an id of letters, digits, dots and hyphens'],
    [`a:${a.slice(0, -2)}?=`, 'the key a is not base64'],
    ['a:', 'the key a is not base64'],
    [`a:${randomBytes(16).toString('base64')}`, 'the key a has 16 bytes instead of 32'],
    [`a:${a},a:${b}`, 'the id a is there twice'],
    [`a:${a},b:${a}`, 'a and b are the same key'],
    [`plain:${a}`, 'no key may have the id plain'],
    [`a:${a},plain`, 'number 2 must be ID:KEY, with an id of letters, digits, dots and hyphens'],
    ['plain', 'plain stands before keys, and there is none'],
  ] as const)
    it(`is refused, by its name and without a word of a key: ${problem}`, () => {
      for (const load of [loadServerConfig, loadOpsConfig]) {
        const problems = findProblems(() => load({ ...env, TEMPORAL_PAYLOAD_KEYS: value }));
        expect(problems).to.deep.equal([`TEMPORAL_PAYLOAD_KEYS: ${problem}`]);
      }
    });
});
