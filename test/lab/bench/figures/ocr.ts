import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installedLanguages, installedModels } from '../../../../ai/recognition/backends.ts';
import type { EngineChoice, Recognizers } from '../../../../ai/recognition/task.ts';
import { characterErrors } from '../../../ai/support/scan.ts';
import { type MadeScan, makeScans } from '../collections/made-scans.ts';
import { makeUntidyImages, type UntidyImage } from '../collections/untidy-images.ts';
import { type Effort, type Figure, toFigure } from '../support/figure.ts';
import type { ReadScan } from '../support/read-scans.ts';

const mostOfUpright = { atMost: 1.5 };
const languagesDirectory = process.env.OCR_LANGUAGES_DIR ?? installedLanguages();

/**
 * How many characters text recognition reads wrongly of scans that were made for it, and how many values it finds in untidy images, with its
 * engine (the system's Tesseract if it is on the PATH, and the one in WebAssembly) and in what time beside the engine called directly; the
 * images one by one with the first engine. Scans are read in their own language if OCR_LANGUAGES_DIR has its data, else as English. A quick
 * run has three scans, and none that is untidy.
 */
export async function ocr({ quick, rounds }: Effort): Promise<Figure[]> {
  const scans = (await makeScans()).slice(0, quick ? 3 : undefined);
  const untidy = quick ? [] : await makeUntidyImages();
  const directory = mkdtempSync(join(tmpdir(), 'scans-'));
  try {
    const files = writeFiles(directory, 'scan', scans);
    const untidyFiles = writeFiles(directory, 'untidy', untidy);
    const figures: Figure[] = [];
    for (const [index, kind] of kinds().entries()) {
      const turns = rounds(index === 0 ? 3 : 1);
      const read = await readScans(kind, turns, scans, files);
      const found = quick ? [] : await readFiles(kind, 'eng', turns, untidyFiles);
      const ofKind = [
        ...scans.map((scan, place) => errorsOf(scan, read[place])),
        ...ratios(scans, read),
        ...valuesOf(untidy, found),
        ...(index === 0 ? untidy.map((image, place) => timeOf(image, found[place])) : []),
      ];
      figures.push(...ofKind.map((figure) => ({ ...figure, name: `${kind}: ${figure.name}` })));
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
  const chosen: Recognizers = { models: process.env.OCR_MODELS_DIR ?? installedModels(), tesseract: choice };
  return JSON.stringify(chosen);
}

/** How much longer a page takes than the engine called directly on the picture as it is, or turned upright. */
function ratios(scans: MadeScan[], read: ReadScan[]): Figure[] {
  const timeOfPages = (as: MadeScan['as'][], name: string, target: Parameters<typeof toFigure>[2]): Figure[] => {
    const some = [...scans.keys()].filter((index) => as.includes(scans[index]?.as ?? 'askew'));
    if (some.length === 0) return [];
    const mean = (of: 'seconds' | 'bareSeconds') => some.reduce((sum, index) => sum + (read[index]?.[of] ?? 0), 0) / some.length;
    // The engine alone reads little of a page that is turned, in little time.
    const baseline = as.includes('turned') ? uprightTwin(scans, read) : mean('bareSeconds');
    return [toFigure(`time of ${name}, beside the engine alone`, { value: mean('seconds'), baseline, unit: 's' }, target)];
  };
  return [
    // The engine alone reads nothing of the one that is askew, in a shadow.
    ...timeOfPages(['it is', 'small'], 'an upright page', { ratio: mostOfUpright }),
    ...timeOfPages(['it is'], 'a page of usual print', {}),
    ...timeOfPages(['small'], 'a page of small print, which is enlarged', {}),
    ...timeOfPages(['turned'], 'a turned page', { ratio: { atMost: 3 } }),
  ];
}

/** The seconds of the engine alone for an upright page with as many lines as the turned ones: by the character. */
function uprightTwin(scans: MadeScan[], read: ReadScan[]): number {
  const [first] = scans as [MadeScan];
  const turned = scans.find((scan) => scan.as === 'turned') ?? first;
  return ((read[0]?.bareSeconds ?? 0) * turned.text.length) / first.text.length;
}

function valuesOf(images: UntidyImage[], read: ReadScan[]): Figure[] {
  if (images.length === 0) return [];
  const share = (which: (image: UntidyImage) => boolean) => {
    const [wanted, found] = images.reduce(
      ([all, some], image, index) =>
        which(image) ? [all + image.values.length, some + foundIn(read[index]?.text ?? '', image)] : [all, some],
      [0, 0],
    );
    return (100 * found) / wanted;
  };
  return [
    toFigure('values found in untidy images', { value: share(() => true), unit: '%' }, { atLeast: 85 }),
    toFigure('values found in upright prints', { value: share(({ upright }) => upright), unit: '%' }, { atLeast: 95 }),
  ];
}

function foundIn(text: string, { values }: UntidyImage): number {
  const bare = (some: string) => some.replace(/[|\s]+/g, '').toLowerCase();
  return values.filter((value) => bare(text).includes(bare(value))).length;
}

/** The time of an image beside the engine alone, with the values that each finds. */
function timeOf(image: UntidyImage, read: ReadScan | undefined): Figure {
  const { text = '', bareText = '', seconds: value = 0, bareSeconds: baseline = 0 } = read ?? {};
  const [here, alone] = [text, bareText].map((some) => foundIn(some, image));
  const name = `${image.name}: ${here} of ${image.values.length} values, by the engine alone ${alone}`;
  return toFigure(name, { value, baseline, unit: 's' }, image.upright ? { ratio: mostOfUpright } : {});
}

/** In a process for each language, as the AI service has. */
async function readScans(kind: EngineChoice['kind'], rounds: number, scans: MadeScan[], files: string[]): Promise<ReadScan[]> {
  const found: ReadScan[] = [];
  for (const [language, some] of Map.groupBy(scans.keys(), (index) => languageOf(scans[index]))) {
    const read = await readFiles(
      kind,
      language,
      rounds,
      some.map((index) => files[index] ?? ''),
    );
    for (const [place, index] of some.entries()) found[index] = read[place] as ReadScan;
  }
  return found;
}

function languageOf(scan: MadeScan | undefined): string {
  return scan && existsSync(join(languagesDirectory, `${scan.language}.traineddata.gz`)) ? scan.language : 'eng';
}

async function readFiles(kind: EngineChoice['kind'], language: string, rounds: number, files: string[]): Promise<ReadScan[]> {
  const args = [entry, choiceOf(kind, language), String(rounds), ...files];
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
