import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { findOcrModels } from '../../../ops/local/ocr-models.ts';
import type { Supervisor } from '../../../ops/local/supervise.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';

describe('The models of text recognition that npm start brings', () => {
  let directory: string;
  let notes: string[];
  const mask = process.umask();
  beforeEach(() => {
    directory = makeTestDirectory();
    notes = [];
    process.umask(0o077);
  });
  afterEach(() => {
    process.umask(mask);
    removeTestDirectory(directory);
  });

  /** Plays pip, and what unpacks its wheel. */
  const complete: Supervisor['complete'] = async ({ args = [], cwd = '' }) => {
    if (args.includes('pip')) return writeFileSync(join(cwd, 'models.whl'), '');
    mkdirSync(join(cwd, 'rapidocr', 'models'), { recursive: true });
    writeFileSync(join(cwd, 'rapidocr', 'models', 'det.onnx'), '');
  };
  const find = (cacheDir: string, clone = directory) =>
    findOcrModels({ supervisor: { complete } as Supervisor, logFile: '', note: (message) => notes.push(message), cacheDir, clone });
  const forOthers = (path: string) => statSync(path).mode & 0o007;

  it('may be read by other users, whatever the mask of this one', async () => {
    const models = join(directory, 'cache', 'sheaf', 'ocr-models', 'pp-ocrv6-small');
    expect(await find(join(directory, 'cache', 'sheaf'))).to.equal(models);
    for (const path of ['cache', 'cache/sheaf', 'cache/sheaf/ocr-models']) expect(forOthers(join(directory, path)), path).to.equal(1);
    expect([forOthers(models), forOthers(join(models, 'det.onnx'))]).to.deep.equal([5, 4]);
    expect(await find(join(directory, 'cache', 'sheaf'))).to.equal(models);
    expect(notes).to.have.length(1);
  });

  if (process.getuid?.() === 0) {
    it('are kept in the clone where other users may not look into the home of root', async () => {
      mkdirSync(join(directory, 'home'));
      // The bundle of the workflows is kept there, too, closed to others.
      mkdirSync(join(directory, 'clone', 'node_modules', '.cache', 'sheaf'), { recursive: true });
      for (const path of ['', 'clone', 'clone/node_modules']) chmodSync(join(directory, path), 0o755);
      const models = join(directory, 'clone', 'node_modules', '.cache', 'sheaf', 'ocr-models', 'pp-ocrv6-small');
      expect(await find(join(directory, 'home', '.cache', 'sheaf'), join(directory, 'clone'))).to.equal(models);
      for (let path = models; path !== directory; path = dirname(path)) expect(forOthers(path) & 1, path).to.equal(1);
    });

    it('are kept in the home of root where other users may not look into the clone either', async () => {
      for (const path of ['home', 'clone']) mkdirSync(join(directory, path));
      const cache = join(directory, 'home', '.cache', 'sheaf');
      expect(await find(cache, join(directory, 'clone'))).to.equal(join(cache, 'ocr-models', 'pp-ocrv6-small'));
    });
  }
});
