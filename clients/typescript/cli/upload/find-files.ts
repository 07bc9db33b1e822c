import { opendir, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { type ContentType, contentTypeOf } from '../../index.ts';
import { Failure } from '../failure.ts';

/** A file that was found. */
export interface Found {
  path: string;
  /** Its path within the folder that was named, with `/`; its own name if it was named itself. */
  name: string;
  /** Undefined if its extension is of no type that a service takes. */
  contentType: ContentType | undefined;
  /** Whether it was named itself, and did not lie in a folder. */
  isNamed: boolean;
}

/** A folder that cannot be read. */
export interface Unreadable {
  path: string;
  error: unknown;
}

/**
 * The files that paths name, and those in the folders that they name, one after the other. Hidden files of folders, and links in them, are
 * passed by; `onLink` gets the path of each link. Throws Failure for a path that leads to nothing.
 */
export async function* findFiles(paths: string[], onLink?: (path: string) => void): AsyncGenerator<Found | Unreadable> {
  for (const path of paths) {
    const found = await stat(path).catch(() => {
      throw new Failure(`${path} is not there, or cannot be read.`);
    });
    if (!found.isDirectory()) yield toFound(path, basename(path), true);
    else for await (const file of filesIn(path, onLink)) yield typeof file === 'string' ? toFound(file, relative(path, file), false) : file;
  }
}

async function* filesIn(directory: string, onLink?: (path: string) => void): AsyncGenerator<string | Unreadable> {
  try {
    for await (const entry of await opendir(directory)) {
      const path = join(directory, entry.name);
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) yield* filesIn(path, onLink);
      else if (entry.isFile()) yield path;
      else if (entry.isSymbolicLink()) onLink?.(path);
    }
  } catch (error) {
    yield { path: directory, error };
  }
}

function toFound(path: string, name: string, isNamed: boolean): Found {
  return { path, name: name.split(sep).join('/'), contentType: contentTypeOf(name), isNamed };
}
