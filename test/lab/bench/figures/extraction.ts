import { extractText as readByPdfJs } from 'unpdf';
import { extractText } from '../../../../ai/formats/extract-text.ts';
import { cutChunks } from '../../../../domain/chunking/cut-chunks.ts';
import type { MadeDocument } from '../collections/made-document.ts';
import { makeDocuments } from '../collections/made-documents.ts';
import { type Figure, toFigure } from '../support/figure.ts';
import { similarityOf } from '../support/similarity.ts';

const limits = { maxUploadBytes: 30_000_000, maxTextCharacters: 200_000, maxPdfPages: 500 };

/**
 * How much of documents that were made for it is read as it is known, beside what is plainest: pdf.js for a PDF, HTML without its tags, and
 * the source of Markdown, of which the text that is embedded is compared.
 */
export async function extraction(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const document of await makeDocuments()) {
    const measured = {
      value: similarityOf(await read(document), document.text),
      baseline: similarityOf(await readPlainly(document), document.text),
      unit: '',
    };
    figures.push(toFigure(`${document.name}: likeness to its text`, measured, { ratio: { atLeast: 1 } }));
  }
  return figures;
}

async function read({ bytes, mediaType }: MadeDocument): Promise<string> {
  const { text, characters, outline } = await extractText({ bytes, mediaType, charset: undefined }, limits);
  if (mediaType !== 'text/markdown') return text;
  // Chunks that begin within what the one before has said already would count twice.
  const wholeSections = { characters: text.length, overlap: 0 };
  const placed = cutChunks(text, { characters, pages: null, headings: outline.headings }, { contentType: mediaType, size: wholeSections });
  return placed.map(({ embedded }) => embedded).join('\n');
}

async function readPlainly({ bytes, mediaType }: MadeDocument): Promise<string> {
  if (mediaType === 'application/pdf') return (await readByPdfJs(new Uint8Array(bytes), { mergePages: true })).text;
  return mediaType === 'text/html' ? bytes.toString().replace(/<[^>]*>/g, ' ') : bytes.toString();
}
