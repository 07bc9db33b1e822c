import { access, type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { writeOnce } from '../../../adapters/storage/write-once.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';

const pieces = 24;
const pieceBytes = 500_000;

describe('writing a large file', () => {
  let directory: string;
  let handles: FileHandle;
  let sync: FileHandle['sync'];
  beforeEach(async () => {
    directory = makeTestDirectory();
    const handle = await open(directory);
    handles = Object.getPrototypeOf(handle);
    await handle.close();
    ({ sync } = handles);
  });
  afterEach(async () => {
    Object.assign(handles, { sync });
    await removeTestDirectory(directory);
  });

  const source = () => Readable.from(Array.from({ length: pieces }, () => Buffer.alloc(pieceBytes, 'bytes\n')));
  const incomingDirectory = () => join(directory, 'incoming');
  const write = () => writeOnce({ target: join(directory, 'org', 'doc'), incomingDirectory: incomingDirectory() }, source());

  it('fails, and stores nothing, when the disk refuses it', async () => {
    handles.sync = async () => Promise.reject(Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' }));
    const failure = await write().catch((error: unknown) => error);
    expect(failure).to.be.an('error').with.property('code', 'EIO');
    expect(await readdir(incomingDirectory())).to.deep.equal([]);
    expect(await readdir(directory)).to.deep.equal(['incoming']);
  });

  it('is on disk before it gets its name, and its name and a new directory’s before it counts as stored', async () => {
    const target = join(directory, 'org', 'doc');
    const synced: string[] = [];
    handles.sync = async function (this: FileHandle) {
      // Whoever does not wait for it is further on then.
      await delay(100);
      const hasName = await access(target).then(
        () => 'named',
        () => 'unnamed',
      );
      const { ino } = await this.stat();
      const places = { root: directory, org: join(directory, 'org') };
      let what = 'file';
      for (const [name, path] of Object.entries(places)) if ((await stat(path).catch(() => undefined))?.ino === ino) what = name;
      await sync.call(this);
      synced.push(`${what} ${hasName}`);
    };
    await write();
    expect(synced.splice(0)).to.deep.equal(['file unnamed', 'org named', 'root named']);
    await writeOnce({ target: join(directory, 'org', 'other'), incomingDirectory: incomingDirectory() }, Readable.from([]));
    expect(synced).to.deep.equal(['file named', 'org named']);
  });
});
