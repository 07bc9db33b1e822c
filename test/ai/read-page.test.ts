import { expect } from 'chai';
import sharp from 'sharp';
import type { Engine } from '../../ai/ocr/engine.ts';
import { toGrey } from '../../ai/ocr/image/grey.ts';
import { readPage } from '../../ai/ocr/read-page.ts';
import { scan } from './support/scan.ts';

const page = await toGrey(sharp(await scan(Array(12).fill('Grain of a photograph looks like letters.'))).greyscale());

/** Finds one word in the corner of a page, this surely. */
const finding = (confidence: number): Engine => ({
  recognize: async () => [{ text: 'rma', confidence, left: 0, top: 0, right: 60, bottom: 30, block: 1, line: 0 }],
});

describe('The words that are found in a page', () => {
  it('are left out, and it says so, if most of what looks like print is not read, and they are unsure', async () => {
    const { text, confidence, notices } = await readPage(page, finding(60), Number.POSITIVE_INFINITY);
    expect({ text, confidence, notices }).to.deep.equal({ text: '', confidence: null, notices: ['print_not_read'] });
  });

  it('are kept if they are read surely, as the date in a photograph is', async () => {
    const { text, confidence, notices } = await readPage(page, finding(90), Number.POSITIVE_INFINITY);
    expect({ text, confidence, notices }).to.deep.equal({ text: 'rma', confidence: 0, notices: ['print_not_read'] });
  });
});
