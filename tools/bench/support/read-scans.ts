// Entry of a process that reads images as the AI service does: `node read-scans.ts LANGUAGES DIRECTORY FILE…`. For each file it prints a
// line of JSON; see ReadScan. The first one is read once before.
import { readFile } from 'node:fs/promises';
import { readUpright } from '../../../ai/ocr/read-upright.ts';
import { loadEngine, preparePages } from '../../../ai/ocr/recognize.ts';

const [languages = '', directory = '', ...files] = process.argv.slice(2);

await loadEngine({ languages: languages.split(','), directory });
await read(files[0] ?? '');
for (const file of files) {
  const before = process.cpuUsage();
  const text = await read(file);
  const { user, system } = process.cpuUsage(before);
  const peakMegabytes = process.resourceUsage().maxRSS / 1_000;
  process.stdout.write(`${JSON.stringify({ text, seconds: (user + system) / 1e6, peakMegabytes })}\n`);
}
process.exit(0);

async function read(file: string): Promise<string> {
  const [prepare] = await preparePages(await readFile(file), 1);
  return prepare ? (await readUpright(await prepare(), Number.POSITIVE_INFINITY)).text : '';
}
