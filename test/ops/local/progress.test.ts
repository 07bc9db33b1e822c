import { Writable } from 'node:stream';
import { expect } from 'chai';
import { createSpinner, Progress } from '../../../ops/local/progress.ts';

describe('The progress of a start', () => {
  let written: string;
  const streamOf = (terminal: { isTTY: boolean; columns: number }) => {
    const stream = new Writable({
      write(chunk, _encoding, done) {
        written += chunk;
        done();
      },
    });
    return Object.assign(stream, terminal) as unknown as NodeJS.WriteStream;
  };

  beforeEach(() => {
    written = '';
  });

  for (const [what, terminal] of [
    ['through a pipe', { isTTY: false, columns: 80 }],
    ['on a terminal that does not know its width', { isTTY: true, columns: 0 }],
  ] as const)
    it(`is plain lines ${what}`, () => {
      const stream = streamOf(terminal);
      createSpinner(stream).start('spins').stop();
      const progress = new Progress(stream);
      progress.on({ service: 'temporal', state: 'starting' });
      progress.on({ service: 'temporal', state: 'note', message: 'building' });
      progress.on({ service: 'temporal', state: 'ready' });
      progress.end();
      expect(written).to.match(/^ {2}Temporal: building …\n {2}Temporal is ready \(\d+\.\d s\)\n$/);
    });
});
