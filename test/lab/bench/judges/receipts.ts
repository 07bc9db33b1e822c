import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { chooseOcr } from '../../../../ai/recognition/backends.ts';
import { memoryBytes } from '../../../../ai/sandbox/memory-bounds.ts';
import { loadAiServiceConfig } from '../../../../base/config/ai-service.ts';
import { type Effort, type Figure, toFigure } from '../support/figure.ts';
import { readByPython } from './read-by-python.ts';

const peers = { set: 'receipts', program: 'read-receipts.py', requirements: 'requirements-receipts.txt' };
const run = promisify(execFile);
/** Shorter lines stand in any text. */
const shortest = 3;
/** A quick run reads one of so many. */
const few = 8;

/** What stands on a receipt, in letters and digits: the values that are asked for, and each line. */
interface Known {
  values: string[];
  lines: string[];
}

/** The text of each image, by its path. */
type Texts = Record<string, string>;

/**
 * Judges text recognition by the receipts of ICDAR 2019 (SROIE): `img/N.jpg`, `key/N.json` with company, date and total, and `box/N.csv` with
 * each line. A value or a line is found if its letters and digits stand in the text; beside Tesseract alone, and what Python's libraries read.
 */
export async function receipts(directory: string, { quick }: Effort): Promise<Figure[]> {
  const names = (await readdir(join(directory, 'img'))).filter((name) => name.endsWith('.jpg')).sort();
  const paths = names.filter((_, index) => !quick || index % few === 0).map((name) => join(directory, 'img', name));
  const known = new Map<string, Known>();
  for (const path of paths) known.set(path, await readKnown(directory, basename(path, '.jpg')));
  const ours = share(await readHere(paths), known);
  const figures = [
    toFigure('receipts: values found', { value: ours.values, unit: '' }, { atLeast: 0.96 }),
    toFigure('receipts: lines found', { value: ours.lines, unit: '' }, { atLeast: 0.94 }),
  ];
  for (const [name, texts] of Object.entries({
    'Tesseract alone': await readByTesseract(paths),
    ...(await readByPython<string>(peers, paths)),
  })) {
    const { values, lines } = share(texts, known);
    figures.push(
      toFigure(`receipts by ${name}: values`, { value: values, unit: '' }),
      toFigure(`receipts by ${name}: lines`, { value: lines, unit: '' }),
    );
  }
  return figures;
}

async function readKnown(directory: string, name: string): Promise<Known> {
  const { company, date, total } = JSON.parse(await readFile(join(directory, 'key', `${name}.json`), 'utf8'));
  const rows = (await readFile(join(directory, 'box', `${name}.csv`), 'utf8')).split(/\r?\n/);
  // Eight numbers are the corners of the line.
  const lines = rows.map((row) => fold(row.split(',').slice(8).join(',')));
  return {
    values: [company, date, total].map((value) => fold(value ?? '')).filter((value) => value !== ''),
    lines: lines.filter((line) => [...line].length >= shortest),
  };
}

function fold(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

function share(texts: Texts, known: Map<string, Known>): { values: number; lines: number } {
  const found = { values: 0, lines: 0 };
  const all = { values: 0, lines: 0 };
  for (const [path, one] of known) {
    const text = fold(texts[path] ?? '');
    for (const kind of ['values', 'lines'] as const) {
      all[kind] += one[kind].length;
      found[kind] += one[kind].filter((wanted) => text.includes(wanted)).length;
    }
  }
  return { values: found.values / all.values, lines: found.lines / all.lines };
}

/** As the service reads images: in a process of its own. */
async function readHere(paths: string[]): Promise<Texts> {
  const { PATH, MODELS_DIR } = process.env;
  const config = loadAiServiceConfig({ SERVICE_AUTH_DISABLED: 'true', OCR_PROVIDER: 'local', PATH, MODELS_DIR });
  const ocr = chooseOcr(config, { size: 1, memoryBytes: memoryBytes.recognizer });
  const texts: Texts = {};
  try {
    for (const path of paths) {
      const image = { bytes: await readFile(path), mediaType: 'image/jpeg', charset: undefined };
      const read = await ocr.backend()?.read(image, AbortSignal.timeout(600_000));
      if (!read) throw new Error(ocr.problem() ?? 'There is no text recognition.');
      texts[path] = read.text;
    }
  } finally {
    await ocr.close();
  }
  return texts;
}

async function readByTesseract(paths: string[]): Promise<Texts> {
  const texts: Texts = {};
  for (const path of paths) texts[path] = (await run('tesseract', [path, 'stdout'], { env: { OMP_THREAD_LIMIT: '1' } })).stdout;
  return texts;
}
