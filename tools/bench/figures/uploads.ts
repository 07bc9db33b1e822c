import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePorts } from '../../../local/ports.ts';
import { startBaseline } from '../support/baseline.ts';
import { type Measure, toFigure } from '../support/figure.ts';
import { alternate } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';

const sizeBytes = 25 * 1024 * 1024;
const bytes = Buffer.alloc(sizeBytes, 'abcdefgh\n');
const many = 20;

/** A PUT of 25 MiB, one and 20 at once, compared with Node's http piped to a file; and the memory of 20 at once. */
export const uploads: Measure = async (service, { rounds }) => {
  const [port = 0] = await findFreePorts(1);
  const directory = mkdtempSync(join(service.stack.dataDir, 'bare-'));
  const bareUrl = `http://127.0.0.1:${port}/`;
  const baseline = await startBaseline(service, 'bare-upload.ts', [directory, String(port)], bareUrl);
  const bare = (count: number) => async () => {
    const rate = await megabytesPerSecond(Array.from({ length: count }, () => ({ url: bareUrl, headers: {} })));
    for (const name of readdirSync(directory)) rmSync(join(directory, name));
    return rate;
  };
  const ours = (count: number) => async () => {
    const targets = await Promise.all(Array.from({ length: count }, () => target(service)));
    const rate = await megabytesPerSecond(targets);
    await Promise.all(targets.map(({ id }) => service.call('DELETE', `/api/v1/documents/${id}`)));
    return rate;
  };
  try {
    const one = await alternate(rounds(9), ours(1), bare(1));
    const twenty = await alternate(rounds(5), ours(many), bare(many));
    const memory = await memoryWhile(service, ours(many));
    return [
      toFigure('25 MiB PUT, one', { ...one, unit: 'MB/s' }, { ratio: { atLeast: 0.9 } }),
      toFigure('25 MiB PUT, 20 at once', { ...twenty, unit: 'MB/s' }, { ratio: { atLeast: 0.8 } }),
      toFigure('memory of 20 PUTs over idle', { value: memory, unit: 'MB' }, { atMost: 100 }),
    ];
  } finally {
    await baseline.stop();
  }
};

async function target(service: Service): Promise<{ id: string; url: string; headers: Record<string, string> }> {
  const body = { workspaceId: service.workspaceId, name: 'bench.txt', contentType: 'text/plain', size: sizeBytes };
  const { document, upload } = await service.call('POST', '/api/v1/documents', body);
  return { id: document.id, ...upload };
}

async function megabytesPerSecond(targets: { url: string; headers: Record<string, string> }[]): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(targets.map(put));
  return (targets.length * sizeBytes) / 1_000 / (performance.now() - startedAt);
}

function put({ url, headers }: { url: string; headers: Record<string, string> }): Promise<void> {
  return new Promise((resolve, reject) => {
    const req = request(url, { method: 'PUT', headers: { ...headers, 'content-length': sizeBytes } }, (res) => {
      res.resume().on('end', () => (res.statusCode === 200 ? resolve() : reject(new Error(`PUT: ${res.statusCode}`))));
    });
    req.on('error', reject).end(bytes);
  });
}

/** The peak growth of the process's memory over its idle size, in MB. */
async function memoryWhile(service: Service, work: () => Promise<unknown>): Promise<number> {
  await delay(2_000);
  const idle = service.memoryMb();
  let peak = idle;
  const sampler = setInterval(() => {
    peak = Math.max(peak, service.memoryMb());
  }, 20);
  await work().finally(() => clearInterval(sampler));
  return peak - idle;
}
