import { expect } from 'chai';
import pg from 'pg';
import { DatabaseUnavailable, isMisconfigured, isUnavailable, toUnavailable } from '../../db/unavailable.ts';

describe('An error of Postgres', () => {
  const says = (code: string) => Object.assign(new pg.DatabaseError('seen', 4, 'error'), { code });

  for (const [code, meaning] of [
    ['53100', 'its disk is full'],
    ['53300', 'it has no connection left'],
    ['28P01', 'the password is being changed'],
    ['08006', 'the connection broke'],
    ['25006', 'it takes no writes, as a standby'],
  ] as const)
    it(`says that the database may serve later: ${meaning}`, () => {
      expect(isUnavailable(says(code))).to.equal(true);
    });

  for (const [code, meaning] of [
    ['42601', 'a syntax error'],
    ['23505', 'a row that is there already'],
  ] as const)
    it(`says that the statement is wrong: ${meaning}`, () => {
      expect(isUnavailable(says(code))).to.equal(false);
    });

  for (const [code, isWrong] of [
    ['DEPTH_ZERO_SELF_SIGNED_CERT', true],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', true],
    ['ERR_TLS_CERT_ALTNAME_INVALID', true],
    ['ECONNREFUSED', false],
  ] as const)
    it(`says whether its address is ${isWrong ? 'wrong' : 'right'}: ${code}`, () => {
      const error = toUnavailable(Object.assign(new Error('seen'), { code }));
      expect(error).to.be.instanceOf(DatabaseUnavailable);
      expect(isMisconfigured(error)).to.equal(isWrong);
    });
});
