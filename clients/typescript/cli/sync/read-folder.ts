import { stat } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import type { ContentType } from '../../index.ts';
import { type AtOnce, forEachAtOnce } from '../at-once.ts';
import { hashFile } from '../hash-file.ts';
import { findFiles } from '../upload/find-files.ts';
import { explain, isEmpty, noType } from '../upload/upload-files.ts';

/** A file of the folder that can be a document. */
export interface LocalFile {
  path: string;
  /** Its path within the folder, with `/`. */
  name: string;
  contentType: ContentType;
  sha256: string;
}

/** A file that is no document, or a folder that cannot be read. */
type Passed = { path: string } & ({ status: 'skipped'; reason: string } | { status: 'failed'; error: unknown });

export interface FolderNow {
  files: LocalFile[];
  passed: Passed[];
  /** Whether nothing is at this path any more. False if that cannot be seen, and of what a link leads to. */
  isGone: (name: string) => boolean;
}

/** Reads every file of a folder. Hidden files and links are passed by; `onRead` gets how many of the others were read. */
export async function readFolder(folder: string, atOnce: AtOnce, onRead: (files: number) => void): Promise<FolderNow> {
  const files: LocalFile[] = [];
  const passed: Passed[] = [];
  const there = new Set<string>();
  const unseen: string[] = [];
  const within = (path: string) => relative(folder, path).split(sep).join('/');
  const onLink = (path: string) => {
    there.add(within(path));
    unseen.push(`${within(path)}/`);
  };
  await forEachAtOnce(findFiles([folder], onLink), atOnce, async (found) => {
    const { path } = found;
    if ('error' in found) {
      unseen.push(within(path) && `${within(path)}/`);
      return void passed.push({ path, status: 'failed', error: explain(path, found.error) });
    }
    const { name, contentType } = found;
    there.add(name);
    try {
      if (contentType === undefined) passed.push({ path, status: 'skipped', reason: noType });
      else if ((await stat(path)).size === 0) passed.push({ path, status: 'skipped', reason: isEmpty });
      else files.push({ path, name, contentType, sha256: await hashFile(path) });
    } catch (error) {
      passed.push({ path, status: 'failed', error: explain(path, error) });
    }
    onRead(there.size);
  });
  return { files, passed, isGone: (name) => !there.has(name) && !unseen.some((start) => name.startsWith(start)) };
}
