import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { UploadTarget } from '../../../adapters/storage/port.ts';

const uploadBytes = 26_214_400;
const mebibyte = 1024 * 1024;
const chunk = Buffer.alloc(65_536, 7);

describe('the memory of the upload route', () => {
  let child: ChildProcess;
  before(() => {
    child = fork(fileURLToPath(new URL('hold-upload-server.ts', import.meta.url)));
  });
  after(async () => {
    const exited = once(child, 'exit');
    child.disconnect();
    await exited;
  });

  const ask = async <T>(question: string): Promise<T> => {
    child.send(question);
    const [answer] = (await once(child, 'message')) as [T];
    return answer;
  };

  it('stays within 100 MiB of idle while twenty uploads of 25 MiB run', async () => {
    expect(await put(await ask<UploadTarget>('sign'))).to.equal(200);
    await ask<number>('memory');
    const idleBytes = await ask<number>('memory');
    const targets: UploadTarget[] = [];
    for (let n = 0; n < 20; n++) targets.push(await ask<UploadTarget>('sign'));
    const statuses = await Promise.all(targets.map(put));
    expect(statuses).to.deep.equal(Array(20).fill(200));
    expect(await ask<number>('memory')).to.be.lessThan(idleBytes + 100 * mebibyte);
  });
});

/** Uploads 25 MiB as fast as the server takes them, and resolves to the status. */
function put(target: UploadTarget): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(target.url, { method: 'PUT', headers: { ...target.headers, 'Content-Length': uploadBytes } }, (res) => {
      res.resume().once('end', () => resolve(res.statusCode));
    });
    sent.once('error', reject);
    let sentBytes = 0;
    const send = () => {
      while (sentBytes < uploadBytes) {
        sentBytes += chunk.length;
        if (!sent.write(chunk)) return void sent.once('drain', send);
      }
      return void sent.end();
    };
    send();
  });
}
