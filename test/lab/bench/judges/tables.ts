import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extractText } from '../../../../ai/formats/extract-text.ts';
import { scanXml } from '../../../../ai/formats/office/scan-xml.ts';
import { type Figure, toFigure } from '../support/figure.ts';
import { type Cell, countCommon, pairsOf, toCells } from './cell-pairs.ts';
import { readByPython } from './read-by-python.ts';

const limits = { maxUploadBytes: 100_000_000, maxTextCharacters: 10_000_000, maxPdfPages: 1_000 };
const peers = { set: 'tables', program: 'read-tables.py', requirements: 'requirements.txt' };

/** For each file by its path, the rows of each of its tables. */
type Tables = Record<string, string[][][]>;

/**
 * Judges the tables that are read of PDFs by those of the competition of ICDAR 2013: `NAME.pdf` beside `NAME-str.xml`. Counted are the pairs of
 * neighbouring cells of all tables, beside what Python's libraries find as they come.
 */
export async function tables(directory: string): Promise<Figure[]> {
  const files = (await readdir(directory)).filter((name) => name.endsWith('.pdf')).sort();
  const paths = files.map((name) => join(directory, name));
  const known = new Map<string, string[]>();
  for (const path of paths) known.set(path, (await readCells(path.replace(/\.pdf$/, '-str.xml'))).flatMap(pairsOf));
  const read: Tables = {};
  for (const path of paths) read[path] = await readTables(path);
  const ours = countPairs(read, known);
  const figures = [
    toFigure('tables: precision of pairs of cells', { value: ours.precision, unit: '' }, { atLeast: 0.98 }),
    toFigure('tables: recall of pairs of cells', { value: ours.recall, unit: '' }, { atLeast: 0.9 }),
    toFigure('tables: F1 of pairs of cells', { value: ours.f1, unit: '' }),
  ];
  for (const [name, found] of Object.entries(await readByPython<string[][][]>(peers, paths))) {
    const { precision, recall, f1 } = countPairs(found, known);
    figures.push(
      toFigure(`tables by ${name}: precision`, { value: precision, unit: '' }),
      toFigure(`tables by ${name}: recall`, { value: recall, unit: '' }),
      toFigure(`tables by ${name}: F1`, { value: f1, unit: '' }),
    );
  }
  return figures;
}

function countPairs(read: Tables, known: Map<string, string[]>): { precision: number; recall: number; f1: number } {
  let [found, right, all] = [0, 0, 0];
  for (const [path, pairs] of known) {
    const ours = (read[path] ?? []).flatMap((rows) => pairsOf(toCells(rows)));
    [found, right, all] = [found + ours.length, right + countCommon(ours, pairs), all + pairs.length];
  }
  return { precision: right / Math.max(1, found), recall: right / all, f1: (2 * right) / (found + all) };
}

/** The tables of a PDF from its text, where they are rows of Markdown. */
async function readTables(path: string): Promise<string[][][]> {
  const { text } = await extractText({ bytes: await readFile(path), mediaType: 'application/pdf', charset: undefined }, limits);
  return text.split(/\n(?!\|)/).flatMap((block) => {
    const rows = block.split('\n').filter((line) => /^\| .* \|$/.test(line));
    return rows.length === 0 ? [] : [rows.map((row) => row.slice(2, -2).split(' | '))];
  });
}

/** The cells of each region of the tables as they are known. */
async function readCells(path: string): Promise<Cell[][]> {
  const regions: Cell[][] = [];
  let [cell, isContent]: [Cell | undefined, boolean] = [undefined, false];
  await scanXml([await readFile(path, 'utf8')], {
    open(name, attributes) {
      if (name === 'region') regions.push([]);
      if (name === 'cell') cell = { text: '', rows: spanOf(attributes, 'row'), columns: spanOf(attributes, 'col') };
      if (name === 'content') isContent = true;
    },
    text(text) {
      if (cell && isContent) cell.text += text;
    },
    close(name) {
      if (name === 'content') isContent = false;
      if (name === 'cell' && cell) regions.at(-1)?.push(cell);
    },
  });
  return regions;
}

function spanOf(attributes: Record<string, string>, side: 'row' | 'col'): [number, number] {
  const first = Number(attributes[`start-${side}`]);
  return [first, Number(attributes[`end-${side}`] ?? first)];
}
