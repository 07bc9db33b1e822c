import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { leastBytes, planPools } from '../../ai/pool/budget.ts';
import { runProgram } from '../support/processes.ts';

const gibibyte = 2 ** 30;

describe('The memory of the readers', () => {
  it('fits together into what there is, whatever that is', () => {
    for (const recognizes of [true, false])
      for (const cores of [1, 2, 4, 16])
        for (let limitBytes = leastBytes({ cores, recognizes }); limitBytes < 16 * gibibyte; limitBytes += gibibyte / 8) {
          const plan = planPools({ limitBytes, cores, recognizes });
          if (!plan) throw new Error(`nothing fits into ${limitBytes} bytes`);
          const readers = plan.readers + plan.spareReaders;
          expect(readers * plan.readerBytes + plan.recognizers * plan.recognizerBytes).to.be.lessThan(plan.totalBytes);
          expect(plan.totalBytes).to.be.at.most(limitBytes);
          expect(plan.readers).to.be.at.least(2);
          expect(plan.recognizers > 0).to.equal(recognizes);
        }
  });

  it('does not fit: the numbers of the operator are refused, not lowered', () => {
    expect(planPools({ limitBytes: 2 * gibibyte, cores: 2, recognizes: true, readers: 8 })).to.equal(undefined);
    expect(planPools({ limitBytes: 32 * gibibyte, cores: 2, recognizes: true, readers: 8, recognizers: 3 })).to.include({
      readers: 8,
      recognizers: 3,
    });
    expect(planPools({ limitBytes: gibibyte, cores: 2, recognizes: true })).to.equal(undefined);
  });

  it('is enough for a spare reader only if that leaves the others theirs', () => {
    const options = { cores: 2, recognizes: true };
    const least = planPools({ ...options, limitBytes: leastBytes(options) });
    expect(least).to.include({ readers: 2, spareReaders: 0 });
    const more = leastBytes(options) + (least?.readerBytes ?? 0);
    expect(planPools({ ...options, limitBytes: more })).to.deep.include({ ...least, spareReaders: 1, totalBytes: more });
  });

  it('has none of what does not run here, whatever number of it the operator chose', () => {
    const plan = planPools({ limitBytes: 8 * gibibyte, cores: 2, recognizes: false, recognizers: 3, embedders: 2 });
    expect(plan).to.include({ recognizers: 0, embedders: 0 });
  });

  it('has room for the local sentence model beside the readers, with one process if there is little', () => {
    for (const cores of [1, 2, 4, 16])
      for (let limitBytes = leastBytes({ cores, recognizes: true, embeds: true }); limitBytes < 20 * gibibyte; limitBytes += gibibyte / 8) {
        const plan = planPools({ limitBytes, cores, recognizes: true, embeds: true });
        if (!plan) throw new Error(`nothing fits into ${limitBytes} bytes`);
        const { readers, readerBytes, recognizers, recognizerBytes, embedders, embedderBytes, totalBytes } = plan;
        expect(embedders).to.be.at.least(1);
        expect(readers * readerBytes + recognizers * recognizerBytes + embedders * embedderBytes).to.be.lessThan(totalBytes);
        expect(totalBytes).to.be.at.most(limitBytes);
      }
    expect(planPools({ limitBytes: 32 * gibibyte, cores: 2, recognizes: true })).to.include({ embedders: 0 });
    expect(planPools({ limitBytes: 8 * gibibyte, cores: 2, recognizes: true, embeds: true, embedders: 8 })).to.equal(undefined);
  });

  it('has its full size within the limit of docker-compose.yml', () => {
    const [, gigabytes] = /\n {2}ai:[\s\S]*?mem_limit: \$\{AI_MEMORY:-(\d+)g\}/.exec(readFileSync('docker-compose.yml', 'utf8')) ?? [];
    for (const cores of [1, 2, 4, 16]) {
      const plan = planPools({ limitBytes: Number(gigabytes) * gibibyte, cores, recognizes: true });
      expect(plan).to.include({ readerBytes: gibibyte, recognizerBytes: 1.5 * gibibyte });
      const embedding = planPools({ limitBytes: Number(gigabytes) * gibibyte, cores, recognizes: true, embeds: true });
      expect(embedding?.embedders).to.be.at.least(1);
      if (cores <= 2) expect(plan).to.include({ spareReaders: 1 });
    }
  });

  it('that does not fit ends the start of the service with a reason', async () => {
    const program = runProgram(process.execPath, ['ai/main.ts'], {
      env: { AI_PORT: '0', SERVICE_TOKEN: 'a-token', AI_MEMORY_BYTES: String(gibibyte) },
    });
    await program.printed(/AI_MEMORY_BYTES: the processes that read documents may take \d+ MiB together, and there are 1024 MiB/);
    expect(await program.exited).to.include({ code: 1 });
  });
});
