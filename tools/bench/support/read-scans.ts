// Reads images in a process of its own: `node read-scans.ts WHAT CHOICE FILE…`. WHAT is `service`, as the AI service reads them, or `bare`,
// the engine alone on the picture as it is. CHOICE is the engine in JSON (`EngineChoice`). It prints a line of JSON for each file, after it
// has read the first file once.
import { readFile } from 'node:fs/promises';
import { decodeImage } from '../../../ai/ocr/decode-image.ts';
import type { Engine } from '../../../ai/ocr/engine.ts';
import { createNativeEngine } from '../../../ai/ocr/native-engine.ts';
import { readPage } from '../../../ai/ocr/read-page.ts';
import type { EngineChoice } from '../../../ai/ocr/task.ts';
import { createWasmEngine } from '../../../ai/ocr/wasm-engine.ts';

const [what, choice = '', ...files] = process.argv.slice(2);
const engine = toEngine(JSON.parse(choice));

await read(files[0] ?? '');
for (const file of files) {
  const startedAt = performance.now();
  const text = await read(file);
  process.stdout.write(`${JSON.stringify({ text, seconds: (performance.now() - startedAt) / 1_000 })}\n`);
}
process.exit(0);

async function read(file: string): Promise<string> {
  const [decode] = await decodeImage(await readFile(file), 1);
  if (!decode) return '';
  const page = await decode();
  if (what === 'service') return (await readPage(page, engine, Number.POSITIVE_INFINITY)).text;
  return (await engine.recognize(page, 'block')).map(({ text }) => text).join(' ');
}

function toEngine(chosen: EngineChoice): Engine {
  return chosen.kind === 'native' ? createNativeEngine(chosen) : createWasmEngine(chosen);
}
