import { expect } from 'chai';
import sharp from 'sharp';
import { installedLanguages } from '../../ai/ocr/backends.ts';
import { readUpright } from '../../ai/ocr/read-upright.ts';
import { endEngine, loadEngine, preparePages, recognize, tryToRecognize } from '../../ai/ocr/recognize.ts';
import { scan } from './support/scan.ts';

// The module of the engine keeps its process from decoding SVG, of which scans are made here, and in other files of this process.
sharp.unblock({ operation: ['VipsForeignLoad'] });

describe('Trials of turned pages', () => {
  after(endEngine);

  it('that take too long leave what was read of the page as it is', async () => {
    const page = await scan(['Upside down.']);
    const first = { text: 'umop apisdn', confidence: 20 };
    const turned: number[] = [];
    const engine = {
      recognize: async () => first,
      tryToRecognize: async (_image: Buffer, withinMs: number) => {
        turned.push(withinMs);
        return undefined;
      },
    };
    expect(await readUpright(page, performance.now() + 60_000, engine)).to.equal(first);
    expect(turned).to.have.length(1);
    // Time is left to hand over what was read.
    expect(turned[0]).to.be.within(1, 55_000);
  });

  it('are given up in the midst of the work, and the next page is read', async () => {
    const line = 'The lease begins in March and ends in the March after it, unless both sides say otherwise.';
    await loadEngine({ directory: installedLanguages(), languages: ['eng'] });
    const prepared = async (lines: string[]) => {
      const [prepare] = await preparePages(await scan(lines), 1);
      return (await prepare?.()) ?? Buffer.alloc(0);
    };
    expect(await tryToRecognize(await prepared(Array(80).fill(line)), 50)).to.equal(undefined);
    const short = await prepared(['The lease ends in March.']);
    expect((await tryToRecognize(short, Number.POSITIVE_INFINITY))?.text).to.equal('The lease ends in March.');
    expect((await recognize(short)).text).to.equal('The lease ends in March.');
  });
});
