import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { writeOnce } from '../../storage/write-once.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { until } from '../support/processes.ts';

const pieces = 24;
const pieceBytes = 500_000;

describe('writing a large file', () => {
  let directory: string;
  let handles: FileHandle;
  let datasync: FileHandle['datasync'];
  beforeEach(async () => {
    directory = makeTestDirectory();
    const handle = await open(directory);
    handles = Object.getPrototypeOf(handle);
    await handle.close();
    ({ datasync } = handles);
  });
  afterEach(async () => {
    handles.datasync = datasync;
    await removeTestDirectory(directory);
  });

  const source = () => Readable.from(Array.from({ length: pieces }, () => Buffer.alloc(pieceBytes, 'bytes\n')));
  const incomingDirectory = () => join(directory, 'incoming');
  const write = () => writeOnce({ target: join(directory, 'org', 'doc'), incomingDirectory: incomingDirectory() }, source());

  it('fails, and stores nothing, when the disk refuses a part in the middle and takes everything after it', async () => {
    let calls = 0;
    handles.datasync = async function (this: FileHandle) {
      if (++calls === 1) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
      await datasync.call(this);
    };
    const failure = await write().catch((error: unknown) => error);
    expect(failure).to.be.an('error').with.property('code', 'EIO');
    expect(await readdir(incomingDirectory())).to.deep.equal([]);
    expect(await readdir(directory)).to.deep.equal(['incoming']);
  });

  it('closes the file when no part is on its way to disk any more, whether it is stored or not', async () => {
    const outcomes: string[] = [];
    let begun = 0;
    handles.datasync = async function (this: FileHandle) {
      begun++;
      await delay(100);
      await datasync.call(this).then(
        () => outcomes.push('on disk'),
        (error) => outcomes.push(String(error)),
      );
    };
    await write();
    async function* breakingOff() {
      for await (const piece of source()) yield piece;
      throw new Error('broke off');
    }
    const place = { target: join(directory, 'org', 'other'), incomingDirectory: incomingDirectory() };
    const failure = await writeOnce(place, breakingOff()).catch((error: unknown) => error);
    expect(failure).to.be.an('error').with.property('message', 'broke off');
    await until(() => outcomes.length === begun);
    expect(outcomes).to.have.length.above(1);
    expect(outcomes).to.satisfy((all: string[]) => all.every((outcome) => outcome === 'on disk'));
    expect(await readdir(join(directory, 'org'))).to.deep.equal(['doc']);
  });
});
