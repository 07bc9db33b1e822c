// Reads images in a process of its own: `node read-scans.ts CHOICE ROUNDS FILE…`. CHOICE is the engine in JSON (`EngineChoice`). It prints a
// line of JSON for each file (`ReadScan`), after it has read the first file once.
import { readFile } from 'node:fs/promises';
import { decodeImage } from '../../../ai/ocr/decode-image.ts';
import type { Engine } from '../../../ai/ocr/engine.ts';
import type { Grey } from '../../../ai/ocr/image/grey.ts';
import { createNativeEngine } from '../../../ai/ocr/native-engine.ts';
import { readPage } from '../../../ai/ocr/read-page.ts';
import type { EngineChoice } from '../../../ai/ocr/task.ts';
import { createWasmEngine } from '../../../ai/ocr/wasm-engine.ts';

/** What was read of an image and the least time that it took: as the AI service does, and by the engine alone on the picture as it is. */
export interface ReadScan {
  text: string;
  seconds: number;
  bareText: string;
  bareSeconds: number;
}

const [choice = '', rounds = '', ...files] = process.argv.slice(2);
const engine = toEngine(JSON.parse(choice));

await readAlone(files[0] ?? '');
for (const file of files) {
  const found: ReadScan = { text: '', seconds: Number.POSITIVE_INFINITY, bareText: '', bareSeconds: Number.POSITIVE_INFINITY };
  for (let round = 0; round < Number(rounds); round += 1) {
    const [here, alone] = [await timed(() => read(file)), await timed(() => readAlone(file))];
    found.text = here.text;
    found.seconds = Math.min(found.seconds, here.seconds);
    found.bareText = alone.text;
    found.bareSeconds = Math.min(found.bareSeconds, alone.seconds);
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
  return (await readPage(await decode(file), engine, Number.POSITIVE_INFINITY)).text;
}

/** With the layout that Tesseract's command line has by default. As one block it reads 1 of 16 values of a form with rules. */
async function readAlone(file: string): Promise<string> {
  return (await engine.recognize(await decode(file), 'auto')).map(({ text }) => text).join(' ');
}

async function decode(file: string): Promise<Grey> {
  const [page] = await decodeImage(await readFile(file), 1);
  if (!page) throw new Error(`${file} has no page.`);
  return await page();
}

function toEngine(chosen: EngineChoice): Engine {
  return chosen.kind === 'native' ? createNativeEngine(chosen) : createWasmEngine(chosen);
}
