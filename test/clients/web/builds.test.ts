import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildConsole, removeOldBuilds } from '../../../clients/web/build.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';

const dayMs = 24 * 60 * 60 * 1_000;

describe('The builds of the console that checkouts share', () => {
  const parent = makeTestDirectory();
  after(() => removeTestDirectory(parent));
  const add = (name: string, days: number) => {
    const directory = join(parent, name);
    mkdirSync(directory);
    writeFileSync(join(directory, 'index.html'), '');
    const at = new Date(Date.now() - days * dayMs);
    utimesSync(directory, at, at);
    return directory;
  };

  it('go when nobody has started them for a week, except the newest five', async () => {
    for (let day = 1; day <= 10; day++) add(`build-${day}`, day);
    const started = add('old-but-started', 30);
    await buildConsole(started);
    expect(statSync(started).mtimeMs).to.be.greaterThan(Date.now() - dayMs);
    removeOldBuilds(parent);
    const kept = [1, 2, 3, 4, 5, 6].map((day) => `build-${day}`);
    expect(readdirSync(parent).sort()).to.deep.equal([...kept, 'old-but-started']);
  });
});
