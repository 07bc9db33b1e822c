import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installedLanguages } from '../../../ai/ocr/backends.ts';
import { characterErrors } from '../../../test/ai/support/scan.ts';
import { type MadeScan, makeScans } from '../collections/made-scans.ts';
import { type Effort, type Figure, toFigure } from '../support/figure.ts';

/** What a program has read of a scan. */
interface ReadScan {
  text: string;
  /** Of processor time. */
  seconds: number;
  /** Of the whole process until then. */
  peakMegabytes: number;
}

const python = '.rapidocr/bin/python';
const howTo = 'python3 -m venv .rapidocr && .rapidocr/bin/pip install rapidocr==3.10.0 onnxruntime==1.23.2';
const languagesDirectory = process.env.OCR_LANGUAGES_DIR ?? installedLanguages();

/**
 * How many characters text recognition reads wrongly of scans that were made for it, in what time and memory, on the same files beside RapidOCR
 * if that is installed. Scans are read in their own language if OCR_LANGUAGES_DIR has its data, else as English. A quick run has three scans.
 */
export async function ocr({ quick }: Effort): Promise<Figure[]> {
  const scans = (await makeScans()).slice(0, quick ? 3 : undefined);
  const directory = mkdtempSync(join(tmpdir(), 'scans-'));
  try {
    const files = scans.map(({ image }, index) => {
      const file = join(directory, `${index}.jpg`);
      writeFileSync(file, image);
      return file;
    });
    const [here, theirs] = [await readHere(scans, files), await readByRapidOcr(files)];
    return [...scans.map((scan, index) => errorsOf(scan, here[index], theirs?.[index])), ...costs(here, theirs)];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** In a process for each language, as the AI service has. */
async function readHere(scans: MadeScan[], files: string[]): Promise<ReadScan[]> {
  const found: ReadScan[] = [];
  for (const [language, some] of Map.groupBy(scans.keys(), (index) => languageOf(scans[index]))) {
    const entry = fileURLToPath(new URL('../support/read-scans.ts', import.meta.url));
    const read = await readScans(process.execPath, [entry, language, languagesDirectory, ...some.map((index) => files[index] ?? '')]);
    for (const [place, index] of some.entries()) found[index] = read[place] as ReadScan;
  }
  return found;
}

async function readByRapidOcr(files: string[]): Promise<ReadScan[] | undefined> {
  if (!existsSync(python) || spawnSync(python, ['-c', 'import onnxruntime, rapidocr']).status !== 0) {
    process.stderr.write(`RapidOCR is not installed, so that nothing is compared with it: ${howTo}\n`);
    return undefined;
  }
  return readScans(python, [fileURLToPath(new URL('../baselines/rapid-ocr.py', import.meta.url)), ...files]);
}

function languageOf(scan: MadeScan | undefined): string {
  return scan && existsSync(join(languagesDirectory, `${scan.language}.traineddata.gz`)) ? scan.language : 'eng';
}

async function readScans(command: string, args: string[]): Promise<ReadScan[]> {
  const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 10_000_000 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function errorsOf(scan: MadeScan, here: ReadScan | undefined, theirs: ReadScan | undefined): Figure {
  const percent = (read: ReadScan | undefined) => 100 * characterErrors(read?.text ?? '', scan.text);
  const value = percent(here);
  const readAs = languageOf(scan) === scan.language ? '' : ', read as English';
  return toFigure(`${scan.name}${readAs}: wrong characters`, { value, ...(theirs && { baseline: percent(theirs) }), unit: '%' });
}

function costs(here: ReadScan[], theirs: ReadScan[] | undefined): Figure[] {
  const seconds = (read: ReadScan[]) => read.reduce((sum, one) => sum + one.seconds, 0) / read.length;
  const peak = (read: ReadScan[]) => Math.max(...read.map(({ peakMegabytes }) => peakMegabytes));
  return [
    toFigure('processor time of a page', { value: seconds(here), ...(theirs && { baseline: seconds(theirs) }), unit: 's' }),
    toFigure('memory of the process, peak', { value: peak(here), ...(theirs && { baseline: peak(theirs) }), unit: 'MB' }),
  ];
}
