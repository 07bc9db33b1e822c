import { execFileSync } from 'node:child_process';
import { chmodSync, createReadStream, createWriteStream, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';
import { inheritedEnvironment, loadToolConfig } from '../../base/config/local.ts';

const { path, cacheDir } = loadToolConfig(inheritedEnvironment());

/** Starts a Chromium without a window: the one that a package of npm carries, or the machine's where that one does not run here. */
export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

async function findChromium(): Promise<string> {
  const packed = await unpackChromium();
  const installed = path.flatMap((directory) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(directory, name)));
  const found = [packed, ...installed].find(runs);
  if (!found) throw new Error('No Chromium runs on this machine: install one (`apt-get install chromium`).');
  return found;
}

/** Unpacks the binary once, and puts it in place whole, since several test files may ask at once. */
async function unpackChromium(): Promise<string> {
  const root = dirname(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const target = join(cacheDir, 'chromium', version, 'chromium');
  if (existsSync(target)) return target;
  mkdirSync(dirname(target), { recursive: true });
  const unfinished = `${target}.${process.pid}`;
  await pipeline(createReadStream(join(root, 'bin/chromium.br')), createBrotliDecompress(), createWriteStream(unfinished));
  chmodSync(unfinished, 0o755);
  renameSync(unfinished, target);
  return target;
}

function runs(program: string): boolean {
  try {
    return existsSync(program) && execFileSync(program, ['--version', '--no-sandbox'], { stdio: 'pipe', timeout: 10_000 }).length > 0;
  } catch {
    return false;
  }
}
