import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePorts } from '../../../local/ports.ts';
import { type Effort, type Figure, toFigure } from '../support/figure.ts';
import { median } from '../support/rounds.ts';

/** `npm start` until it is ready: without any data or build, and on the data of an earlier start. */
export async function start({ quick }: Effort): Promise<Figure[]> {
  const [firstStarts, laterStarts] = quick ? [1, 1] : [2, 3];
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-bench-start-'));
  const first: number[] = [];
  const later: number[] = [];
  try {
    for (let round = 0; round < firstStarts; round++) {
      // The bundle of the workflows, which the first start builds.
      rmSync('node_modules/.cache/sheaf', { recursive: true, force: true });
      rmSync(dataDir, { recursive: true, force: true });
      first.push(await secondsToReady(dataDir));
    }
    for (let round = 0; round < laterStarts; round++) later.push(await secondsToReady(dataDir));
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
  return [
    toFigure('npm start to ready, the first after install', { value: median(first), unit: 's' }, { atMost: 15 }),
    toFigure('npm start to ready, later', { value: median(later), unit: 's' }, { atMost: 6 }),
  ];
}

async function secondsToReady(dataDir: string): Promise<number> {
  const [api, postgres, temporal, ui, ai] = await findFreePorts(5);
  const ports = { PORT: api, EMBEDDED_PG_PORT: postgres, EMBEDDED_TEMPORAL_PORT: temporal, EMBEDDED_TEMPORAL_UI_PORT: ui, AI_PORT: ai };
  const env = {
    ...process.env,
    ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
    DATA_DIR: dataDir,
  };
  const startedAt = performance.now();
  const child = spawn('npm', ['start'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('Ctrl-C')) resolve();
    });
    void ended.then(() => reject(new Error(`npm start ended: ${output}`)));
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  child.kill('SIGTERM');
  await ended;
  return seconds;
}
