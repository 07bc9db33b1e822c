import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isCode } from '../../adapters/storage/write-once.ts';
import { OpsError } from '../context.ts';
import type { Place } from './place.ts';

/** A directory of this machine, which only its user may read. */
export class DirectoryPlace implements Place {
  readonly name: string;

  /** `name` is an absolute path. */
  constructor(name: string) {
    this.name = name;
  }

  in(name: string): Place {
    return new DirectoryPlace(this.#at(name));
  }

  async list(): Promise<string[]> {
    return await readdir(this.name).catch((error) => {
      if (isCode(error, 'ENOENT')) return [];
      throw error;
    });
  }

  async makeEmpty(): Promise<void> {
    const entries = await makeDirectory(this.name)
      .then(() => readdir(this.name))
      .catch((error: Error) => {
        throw new OpsError(`A backup cannot be written there: ${error.message}`, { cause: error });
      });
    if (entries.length > 0) throw new OpsError(`${this.name} is not empty. A backup needs a new directory.`);
  }

  async write(file: string, source: AsyncIterable<Buffer>): Promise<void> {
    const unfinished = this.#at(`${file}.unfinished`);
    await mkdir(dirname(unfinished), { recursive: true, mode: 0o700 });
    try {
      await pipeline(source, createWriteStream(unfinished, { mode: 0o600, flush: true }));
      await rename(unfinished, this.#at(file));
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  read(file: string): Readable {
    return createReadStream(this.#at(file));
  }

  async has(file: string): Promise<boolean> {
    return existsSync(this.#at(file));
  }

  async remove(file: string): Promise<void> {
    await rm(this.#at(file));
  }

  async clear(): Promise<void> {
    for (const name of await readdir(this.name)) await this.removePlace(name);
  }

  async removePlace(name: string): Promise<void> {
    await rm(this.#at(name), { recursive: true, force: true });
  }

  #at(name: string): string {
    return join(this.name, name);
  }
}

/**
 * Makes a directory and those above it. Node's own way (`recursive`) never ends where the directory above is there and takes none, as
 * `/proc` does.
 */
async function makeDirectory(path: string): Promise<void> {
  const make = () => mkdir(path, { mode: 0o700 });
  const above = dirname(path);
  await make().catch(async (error) => {
    if (isCode(error, 'EEXIST') && (await stat(path)).isDirectory()) return;
    if (!isCode(error, 'ENOENT') || above === path) throw error;
    await makeDirectory(above);
    await make();
  });
}
