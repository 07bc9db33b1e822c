import { expect } from 'chai';
import { parseOptions, UsageError } from './options.ts';

describe('The options of the random sequences', () => {
  it('are 10,000 sequences of a new seed unless told otherwise', () => {
    expect(parseOptions([])).to.deep.equal({ sequences: 10_000, seed: undefined, help: false });
    expect(parseOptions(['--sequences', '20', '--seed=0'])).to.deep.equal({ sequences: 20, seed: 0, help: false });
  });

  for (const args of [['--sequences', '0'], ['--sequences', 'many'], ['--seed', '-1'], ['--fast'], ['300']]) {
    it(`refuse ${args.join(' ')}`, () => {
      expect(() => parseOptions(args)).to.throw(UsageError);
    });
  }
});
