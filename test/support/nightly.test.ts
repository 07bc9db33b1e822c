import { expect } from 'chai';
import { nightly, nightlySuite } from './nightly.ts';

describe('A test that takes long', () => {
  const { it: ofMocha, describe: suiteOfMocha } = globalThis;
  const { TEST_NIGHTLY: before } = process.env;
  afterEach(() => {
    Object.assign(globalThis, { it: ofMocha, describe: suiteOfMocha });
    if (before === undefined) delete process.env.TEST_NIGHTLY;
    else process.env.TEST_NIGHTLY = before;
  });

  it('belongs to the file that names it, though one process runs many files', () => {
    const named: string[] = [];
    const note = (title: string) => void named.push(title);
    Object.assign(globalThis, { it: note, describe: note });
    process.env.TEST_NIGHTLY = 'true';
    nightly('a test', async () => {});
    nightlySuite('a suite', () => {});
    expect(named).to.deep.equal(['a test', 'a suite']);
    delete process.env.TEST_NIGHTLY;
    nightly('another', async () => {});
    nightlySuite('another suite', () => {});
    expect(named).to.have.length(2);
  });
});
