import { contentTypeOf } from '@sheaf/client';
import { t } from './text.ts';

/** A file, and what its document is called. */
export interface NamedFile {
  file: File;
  name: string;
}

export const named = (file: File): NamedFile => ({ file, name: file.name });

/**
 * The dropped files. Those of a dropped folder keep their path as name. Skips what `sheaf upload` skips in folders: hidden files, empty ones
 * and unknown types. Throws if nothing is left.
 */
export async function filesOf(entries: FileSystemEntry[]): Promise<NamedFile[]> {
  const files: NamedFile[] = [];
  for (const entry of entries) {
    if (isDirectory(entry)) for await (const file of filesIn(entry, '')) files.push(file);
    else files.push(named(await fileOf(entry)));
  }
  if (files.length === 0) throw new Error(t.uploads.unknownType);
  return files;
}

async function* filesIn(directory: FileSystemDirectoryEntry, path: string): AsyncGenerator<NamedFile> {
  const reader = directory.createReader();
  const read = () => new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
  // A browser hands out a hundred at a time.
  for (let entries = await read(); entries.length > 0; entries = await read())
    for (const entry of entries.filter(({ name }) => !name.startsWith('.'))) {
      const name = path + entry.name;
      if (isDirectory(entry)) yield* filesIn(entry, `${name}/`);
      else if (contentTypeOf(name)) {
        const file = await fileOf(entry);
        if (file.size > 0) yield { file, name };
      }
    }
}

const isDirectory = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

function fileOf(entry: FileSystemEntry): Promise<File> {
  return new Promise((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
}
