import { expect } from 'chai';
import pg from 'pg';
import { isUnavailable } from '../../db/unavailable.ts';

describe('An error of Postgres', () => {
  const says = (code: string) => Object.assign(new pg.DatabaseError('seen', 4, 'error'), { code });

  for (const [code, meaning] of [
    ['53100', 'its disk is full'],
    ['53300', 'it has no connection left'],
    ['28P01', 'the password is being changed'],
    ['08006', 'the connection broke'],
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
});
