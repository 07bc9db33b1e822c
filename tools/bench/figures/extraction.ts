import { extractText as readByPdfJs } from 'unpdf';
import { extractText } from '../../../ai/extract/extract-text.ts';
import { cutChunks } from '../../../domain/chunking/cut-chunks.ts';
import { splitText } from '../../../domain/chunking/split-text.ts';
import type { MadeDocument } from '../collections/made-document.ts';
import { type MadeRecords, makeDocuments, makeRecords } from '../collections/made-documents.ts';
import { type Figure, toFigure } from '../support/figure.ts';
import { similarityOf } from '../support/similarity.ts';

const limits = { maxUploadBytes: 30_000_000, maxTextCharacters: 200_000, maxPdfPages: 500 };

/**
 * How much of documents that were made for it is read as it is known, beside what is plainest: pdf.js for a PDF, HTML without its tags, and the source of
 * Markdown. Of Markdown it is what is embedded. Of a PDF with tables, too, how many cells stand in their row and column. Of a PDF with headings, too, how many of them are found, and nothing else. Of records: how many values are embedded together with all that names them, beside chunks without regard to structure.
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
    if (document.cells) figures.push(toFigure(`${document.name}: cells in their places`, await cellsFound(document)));
    if (document.headings) figures.push(toFigure(`${document.name}: headings`, { value: await headingsFound(document), unit: '' }));
  }
  for (const records of makeRecords()) {
    const { text, mediaType } = records;
    const embedded = cutChunks(text, { characters: text.length, pages: null, headings: [] }, { contentType: mediaType }).map(
      (chunk) => chunk.embedded,
    );
    const measured = {
      value: shareNamed(records, embedded),
      baseline: shareNamed(
        records,
        splitText(text).map((chunk) => chunk.text),
      ),
      unit: '',
    };
    figures.push(toFigure(`${records.name}: values with their names`, measured, { ratio: { atLeast: 1 } }));
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

/** How far the headings that are found are those that are there, with their levels: F1. */
async function headingsFound({ bytes, mediaType, headings = [] }: MadeDocument): Promise<number> {
  const { outline } = await extractText({ bytes, mediaType, charset: undefined }, limits);
  const name = ({ level, title }: { level: number; title: string }) => `${level} ${title}`;
  const [found, there] = [outline.headings, headings].map((all) => new Set(all.map(name))) as [Set<string>, Set<string>];
  return (2 * found.intersection(there).size) / (found.size + there.size);
}

/** How many of the cells stand in a row that begins as theirs does, in their column. Those of pdf.js are what stands between wide blanks. */
async function cellsFound(document: MadeDocument) {
  const { cells: rows = [] } = document;
  const share = (found: string[][]) => {
    const byStart = new Map(found.map((cells) => [cells[0], cells]));
    const right = rows.map((row) => row.filter((cell, column) => byStart.get(row[0])?.[column] === cell).length);
    return right.reduce((sum, count) => sum + count, 0) / rows.flat().length;
  };
  const own = (await read(document)).split('\n').filter((line) => line.startsWith('| '));
  const { text } = await readByPdfJs(new Uint8Array(document.bytes));
  return {
    value: share(own.map((line) => line.slice(2, -2).split(' | '))),
    baseline: share(text.flatMap((page) => page.split('\n').map((line) => line.trim().split(/\s{2,}/)))),
    unit: '',
  };
}

async function readPlainly({ bytes, mediaType }: MadeDocument): Promise<string> {
  if (mediaType === 'application/pdf') return (await readByPdfJs(new Uint8Array(bytes), { mergePages: true })).text;
  return mediaType === 'text/html' ? bytes.toString().replace(/<[^>]*>/g, ' ') : bytes.toString();
}

function shareNamed({ values }: MadeRecords, chunks: string[]): number {
  const isNamed = ({ names, value }: MadeRecords['values'][number]) =>
    chunks.some((chunk) => [...names, value].every((one) => chunk.includes(one)));
  return values.filter(isNamed).length / values.length;
}
