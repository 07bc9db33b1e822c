import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = [
  'clients/web/*.{ts,json,html}',
  'clients/web/src/**',
  'clients/typescript/*.ts',
  'docs/examples/samples/*',
  'package-lock.json',
];
/** Checkouts and branches that somebody goes between have a build each. */
const keptBuilds = 5;
/** One that was started since may be served still: its pages load their parts from it. */
const servedMs = 7 * 24 * 60 * 60 * 1_000;

/** Where the build of these sources belongs, below a directory of such builds. It is there once its `index.html` is. */
export function buildDirectory(parent: string): string {
  const hash = createHash('sha256');
  const files = globSync(sources, { cwd: root }).filter((file) => statSync(join(root, file)).isFile());
  for (const file of files.sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  return join(parent, hash.digest('hex').slice(0, 16));
}

/**
 * Builds the console, and puts it in place whole: several may build at once, and the API may look at any time. A build that is there is left
 * as it is, but counts as the newest. Throws what Vite throws.
 */
export async function buildConsole(directory: string): Promise<void> {
  if (existsSync(join(directory, 'index.html'))) return utimesSync(directory, new Date(), new Date());
  mkdirSync(dirname(directory), { recursive: true });
  const unfinished = mkdtempSync(`${directory}.`);
  try {
    const { build } = await import('vite');
    const configFile = join(root, 'clients/web/vite.config.ts');
    await build({ configFile, configLoader: 'native', logLevel: 'warn', build: { outDir: unfinished, emptyOutDir: true } });
    for (const file of globSync(join(unfinished, 'assets/*.{js,mjs,css,svg}'))) compress(file);
    // The directory was made for this user alone; in the image another one reads it.
    chmodSync(unfinished, 0o755);
    // Of two builds at once the first stays; the API may have read it already.
    if (!existsSync(directory)) renameSync(unfinished, directory);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Removes the builds of a directory of them that nobody has started for a week, but keeps the newest. */
export function removeOldBuilds(parent: string): void {
  const usedAt = (build: string) => statSync(build).mtimeMs;
  const newest = readdirSync(parent)
    .map((name) => join(parent, name))
    .sort((one, other) => usedAt(other) - usedAt(one));
  const old = newest.slice(keptBuilds).filter((build) => usedAt(build) < Date.now() - servedMs);
  for (const build of old) rmSync(build, { recursive: true, force: true });
}

function compress(file: string): void {
  const content = readFileSync(file);
  writeFileSync(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
}
