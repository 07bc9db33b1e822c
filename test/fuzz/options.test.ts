import { expect } from 'chai';
import { parseOptions, UsageError } from './options.ts';

describe('The options of the fuzzing', () => {
  it('are every caller and 50 examples unless told otherwise', () => {
    const expected = { callers: ['owner', 'member', 'admin', 'anonymous'], examples: 50, seed: undefined, help: false };
    expect(parseOptions([])).to.deep.equal(expected);
  });

  it('take the number of examples, a seed, and callers, each once and in the order of the table', () => {
    const seed = '236543761309201587975776785733479005726';
    const args = ['--examples', '100', '--seed', seed, '--as', 'anonymous', '--as=owner', '--as', 'owner'];
    expect(parseOptions(args)).to.deep.equal({ callers: ['owner', 'anonymous'], examples: 100, seed, help: false });
  });

  const refused: [string[], string][] = [
    [['--as', 'nobody'], 'There is no caller nobody. There are: owner, member, admin, anonymous'],
    [['--as', ''], 'There is no caller'],
    [['--examples', '0'], '--examples needs a whole number of at least 1, not 0'],
    [['--examples', '1e3'], '--examples needs a whole number of at least 1, not 1e3'],
    [['--seed', 'x'], '--seed needs a whole number of at least 0, not x'],
    [['--fast'], "Unknown option '--fast'"],
    [['owner'], "Unexpected argument 'owner'"],
  ];
  for (const [args, message] of refused) {
    it(`refuse ${args.join(' ')}`, () => {
      expect(() => parseOptions(args)).to.throw(UsageError, message);
    });
  }
});
