import { finished, Readable } from 'node:stream';
import { StorageUnavailable } from './port.ts';

/**
 * Returns the same bytes as a stream that fails with StorageUnavailable if its source breaks, or sends nothing for `timeoutMs` while
 * somebody reads. While nobody reads, nothing is read from the source and no time is counted.
 */
export function readInTime(source: Readable, timeoutMs: number): Readable {
  let timer: NodeJS.Timeout | undefined;
  const stream = new Readable({
    read() {
      clearTimeout(timer);
      timer = setTimeout(() => stream.destroy(new StorageUnavailable('an object has stopped in the middle')), timeoutMs);
      source.resume();
    },
    destroy(error, done) {
      clearTimeout(timer);
      source.destroy();
      done(error);
    },
  });
  // An error before the first read is reported to the first reader. Without this listener it would end the process.
  stream.on('error', () => {});
  source.pause().on('data', (chunk: Buffer) => {
    clearTimeout(timer);
    if (!stream.push(chunk)) source.pause();
  });
  finished(source, (error) => {
    clearTimeout(timer);
    if (error) stream.destroy(new StorageUnavailable(error));
    else stream.push(null);
  });
  return stream;
}
