import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installedLanguages } from '../../../ai/ocr/backends.ts';
import type { EngineChoice } from '../../../ai/ocr/task.ts';
import { characterErrors } from '../../../test/ai/support/scan.ts';
import { type MadeScan, makeScans } from '../collections/made-scans.ts';
import { makeUntidyImages, type UntidyImage } from '../collections/untidy-images.ts';
import { type Effort, type Figure, toFigure } from '../support/figure.ts';

interface ReadScan {
  text: string;
  seconds: number;
}

const languagesDirectory = process.env.OCR_LANGUAGES_DIR ?? installedLanguages();

/**
 * How many characters text recognition reads wrongly of scans that were made for it, and how many values it finds in untidy images, with its
 * engine (the system's Tesseract if it is on the PATH, and the one in WebAssembly) and in what time beside the engine called directly. Scans are read in their own language if OCR_LANGUAGES_DIR has its data, else as English. A quick run has
 * three scans, and none that is untidy.
 */
export async function ocr({ quick }: Effort): Promise<Figure[]> {
  const scans = (await makeScans()).slice(0, quick ? 3 : undefined);
  const untidy = quick ? [] : await makeUntidyImages();
  const directory = mkdtempSync(join(tmpdir(), 'scans-'));
  try {
    const files = writeFiles(directory, 'scan', scans);
    const untidyFiles = writeFiles(directory, 'untidy', untidy);
    const figures: Figure[] = [];
    for (const kind of kinds()) {
      const here = await readHere(kind, 'service', scans, files);
      const bare = await readHere(kind, 'bare', scans, files);
      const named = (figure: Figure) => ({ ...figure, name: `${kind}: ${figure.name}` });
      const found = quick ? [] : await readScans([entry, 'service', choiceOf(kind, 'eng'), ...untidyFiles]);
      figures.push(
        ...scans.map((scan, index) => errorsOf(scan, here[index])).map(named),
        ...[...ratios(scans, here, bare), ...valuesOf(untidy, found)].map(named),
      );
    }
    return figures;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function writeFiles(directory: string, name: string, images: { image: Buffer }[]): string[] {
  return images.map(({ image }, index) => {
    const file = join(directory, `${name}-${index}`);
    writeFileSync(file, image);
    return file;
  });
}

const entry = fileURLToPath(new URL('../support/read-scans.ts', import.meta.url));

function kinds(): EngineChoice['kind'][] {
  return spawnSync('tesseract', ['--version']).status === 0 ? ['native', 'wasm'] : ['wasm'];
}

/** The system's Tesseract has the data of English. */
function choiceOf(kind: EngineChoice['kind'], language: string): string {
  const languages = [language];
  const choice: EngineChoice =
    kind === 'native' ? { kind, command: ['tesseract'], languages: ['eng'] } : { kind, directory: languagesDirectory, languages };
  return JSON.stringify(choice);
}

/** How much longer a page takes than the engine called directly on the picture as it is, or turned upright. */
function ratios(scans: MadeScan[], here: ReadScan[], bare: ReadScan[]): Figure[] {
  const isTurned = (index: number) => scans[index]?.name.startsWith('turned') ?? false;
  const seconds = (read: ReadScan[], which: (index: number) => boolean) =>
    read.filter((_, index) => which(index)).reduce((sum, one) => sum + one.seconds, 0);
  const upright = (index: number) => !isTurned(index);
  const count = scans.filter((_, index) => upright(index)).length;
  const all = toFigure(
    'time of an upright page, beside the engine alone',
    { value: seconds(here, upright) / count, baseline: seconds(bare, upright) / count, unit: 's' },
    { ratio: { atMost: 1.5 } },
  );
  const turned = scans.keys().filter(isTurned).toArray();
  if (turned.length === 0) return [all];
  const share = turned.length;
  const value = seconds(here, isTurned) / share;
  return [
    all,
    toFigure(
      'time of a turned page, beside the engine alone on the upright one',
      { value, baseline: uprightTwin(scans, bare), unit: 's' },
      { ratio: { atMost: 3 } },
    ),
  ];
}

/** The seconds of the engine alone for a page with as many lines as the turned ones: by the character. */
function uprightTwin(scans: MadeScan[], bare: ReadScan[]): number {
  const [first] = scans as [MadeScan];
  const turned = scans.find(({ name }) => name.startsWith('turned')) ?? first;
  return ((bare[0]?.seconds ?? 0) * turned.text.length) / first.text.length;
}

function valuesOf(images: UntidyImage[], read: ReadScan[]): Figure[] {
  if (images.length === 0) return [];
  const bare = (text: string) => text.replace(/[|\s]+/g, '').toLowerCase();
  const share = (which: (image: UntidyImage) => boolean) => {
    const wanted = images.flatMap((image, index) =>
      which(image) ? image.values.map((value) => ({ value, text: read[index]?.text ?? '' })) : [],
    );
    return (100 * wanted.filter(({ value, text }) => bare(text).includes(bare(value))).length) / wanted.length;
  };
  return [
    toFigure('values found in untidy images', { value: share(() => true), unit: '%' }, { atLeast: 85 }),
    toFigure('values found in upright prints', { value: share(({ upright }) => upright), unit: '%' }, { atLeast: 95 }),
  ];
}

/** In a process for each language, as the AI service has. */
async function readHere(kind: EngineChoice['kind'], what: 'service' | 'bare', scans: MadeScan[], files: string[]): Promise<ReadScan[]> {
  const found: ReadScan[] = [];
  for (const [language, some] of Map.groupBy(scans.keys(), (index) => languageOf(scans[index]))) {
    const read = await readScans([entry, what, choiceOf(kind, language), ...some.map((index) => files[index] ?? '')]);
    for (const [place, index] of some.entries()) found[index] = read[place] as ReadScan;
  }
  return found;
}

function languageOf(scan: MadeScan | undefined): string {
  return scan && existsSync(join(languagesDirectory, `${scan.language}.traineddata.gz`)) ? scan.language : 'eng';
}

async function readScans(args: string[]): Promise<ReadScan[]> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 10_000_000 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function errorsOf(scan: MadeScan, read: ReadScan | undefined): Figure {
  const readAs = languageOf(scan) === scan.language ? '' : ', read as English';
  const value = 100 * characterErrors(read?.text ?? '', scan.text);
  return toFigure(`${scan.name}${readAs}: wrong characters`, { value, unit: '%' });
}
