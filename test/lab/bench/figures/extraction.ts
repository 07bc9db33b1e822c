import { extractText as readByPdfJs } from 'unpdf';
import { extractText } from '../../../../ai/formats/extract-text.ts';
import { makePaper } from '../collections/made-paper.ts';
import { type Figure, toFigure } from '../support/figure.ts';
import { similarityOf } from '../support/similarity.ts';

const limits = { maxUploadBytes: 30_000_000, maxTextCharacters: 200_000, maxPdfPages: 500 };

/** How much of a PDF that was made for it is read as it is known, beside pdf.js. */
export async function extraction(): Promise<Figure[]> {
  const { bytes, text } = await makePaper();
  const read = await extractText({ bytes, mediaType: 'application/pdf', charset: undefined }, limits);
  const plain = await readByPdfJs(new Uint8Array(bytes), { mergePages: true });
  const measured = { value: similarityOf(read.text, text), baseline: similarityOf(plain.text, text), unit: '' };
  return [toFigure('PDF of two columns: likeness to its text', measured, { ratio: { atLeast: 1 } })];
}
