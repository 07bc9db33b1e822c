// Reads images in a process of its own: `node read-scans.ts CHOSEN ROUNDS FILE…`. CHOSEN is what it reads with in JSON (`Recognizers`). It prints
// a line of JSON for each file (`ReadScan`), after it has read the first file once.
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { createWorker, OEM, PSM } from 'tesseract.js';
import { decodeImage } from '../../../../ai/recognition/decode-image.ts';
import { loadModels } from '../../../../ai/recognition/models.ts';
import { createNativeEngine } from '../../../../ai/recognition/native-engine.ts';
import { readPage } from '../../../../ai/recognition/read-page.ts';
import type { EngineChoice, Recognizers } from '../../../../ai/recognition/task.ts';
import { loadWasmEngine } from '../../../../ai/recognition/wasm-engine.ts';

/** What was read of an image and the least time that it took: as the AI service does, and by the engine alone on the picture as it is. */
export interface ReadScan {
  text: string;
  seconds: number;
  bareText: string;
  bareSeconds: number;
}

const [chosen = '', rounds = '', ...files] = process.argv.slice(2);
const { models, tesseract }: Recognizers = JSON.parse(chosen);
const engine = tesseract.kind === 'native' ? createNativeEngine(tesseract) : await loadWasmEngine(tesseract);
const readers = { models: await loadModels(models), tesseract: engine, languages: tesseract.languages };
const alone = await toReader(tesseract);

await readAlone(files[0] ?? '');
for (const file of files) {
  const found: ReadScan = { text: '', seconds: Number.POSITIVE_INFINITY, bareText: '', bareSeconds: Number.POSITIVE_INFINITY };
  for (let round = 0; round < Number(rounds); round += 1) {
    const [here, bare] = [await timed(() => read(file)), await timed(() => readAlone(file))];
    found.text = here.text;
    found.seconds = Math.min(found.seconds, here.seconds);
    found.bareText = bare.text;
    found.bareSeconds = Math.min(found.bareSeconds, bare.seconds);
  }
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
process.exit(0);

async function timed(readText: () => Promise<string>): Promise<{ text: string; seconds: number }> {
  const startedAt = performance.now();
  const text = await readText();
  return { text, seconds: (performance.now() - startedAt) / 1_000 };
}

async function read(file: string): Promise<string> {
  const [decode] = await decodeImage(await readFile(file), 1);
  if (!decode) throw new Error(`${file} has no page.`);
  return (await readPage(await decode(), readers)).text;
}

async function readAlone(file: string): Promise<string> {
  return await alone(await sharp(file).greyscale().png().toBuffer());
}

/** Tesseract with the layout that its command line has by default. */
async function toReader(choice: EngineChoice): Promise<(image: Buffer) => Promise<string>> {
  if (choice.kind === 'native') {
    const [program = '', ...before] = choice.command;
    const args = [...before, 'stdin', 'stdout', '-l', choice.languages.join('+')];
    return async (image) => spawnSync(program, args, { input: image, env: { OMP_THREAD_LIMIT: '1' }, encoding: 'utf8' }).stdout;
  }
  const worker = await createWorker(choice.languages, OEM.LSTM_ONLY, { langPath: choice.directory, gzip: true, cacheMethod: 'none' });
  await worker.setParameters({ tessedit_pageseg_mode: PSM.AUTO });
  return async (image) => (await worker.recognize(image)).data.text;
}
