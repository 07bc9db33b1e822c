import type { Document } from '../../index.ts';
import type { FolderNow, LocalFile } from './read-folder.ts';

/** What is to be done. `stale` are contents that would come into a document's place, and are not wanted any more. */
export type Step =
  | { action: 'upload'; file: LocalFile }
  | { action: 'replace' | 'move' | 'keep'; file: LocalFile; document: Document; stale: Document[] }
  /** The content is uploaded already, and could not be read. */
  | { action: 'give up'; file: LocalFile; upload: Document }
  | { action: 'delete'; document: Document; stale: Document[] };

export interface Plan {
  steps: Step[];
  /** How many documents there are, and how many go since their file is gone. */
  documents: number;
  gone: number;
}

/** The path of the file that a document was made of. */
export function pathOf({ metadata, name }: Document): string {
  return typeof metadata.syncPath === 'string' ? metadata.syncPath : name;
}

/** The path of a step's file: within the folder, if the file is gone. */
export function pathOfStep(step: Step): string {
  return 'file' in step ? step.file.path : pathOf(step.document);
}

/** Compares a folder with the complete documents that were made of it: what is there twice is made single, what was renamed is moved. */
export function planSync({ files, isGone }: FolderNow, documents: Document[]): Plan {
  const known = new Map(documents.map((document) => [document.id, document]));
  const isUpload = ({ replaces }: Document) => replaces !== undefined && known.has(replaces);
  const uploads = grouped(documents.filter(isUpload), ({ replaces = '' }) => replaces);
  const byPath = grouped(
    documents.filter((document) => !isUpload(document)),
    pathOf,
  );
  const contents = new Map(files.map(({ name, sha256 }) => [name, sha256]));
  const extra: Document[] = [];
  const single = new Map<string, Document>();
  for (const [path, same] of byPath) {
    // Lists are newest first: of several, as two runs at once may make them, the one with the content stays, or else the oldest.
    const kept = same.findLast(({ sha256 }) => sha256 === contents.get(path)) ?? same.at(-1);
    if (kept) single.set(path, kept);
    extra.push(...same.filter((document) => document !== kept));
  }
  const gone = [...single].filter(([path]) => isGone(path)).map(([, document]) => document);
  const movable = grouped(gone, contentKey);
  const moved = new Set<Document>();
  const staleOf = ({ id }: Document) => uploads.get(id) ?? [];
  const ofFiles = files.map((file): Step => {
    const document = single.get(file.name);
    if (document) return compare(file, document, staleOf(document));
    const from = movable.get(contentKey(file))?.pop();
    if (!from) return { action: 'upload', file };
    moved.add(from);
    return { action: 'move', file, document: from, stale: staleOf(from) };
  });
  const left = gone.filter((document) => !moved.has(document));
  const drops = [...extra, ...left].map((document): Step => ({ action: 'delete', document, stale: staleOf(document) }));
  // What goes first makes room, and frees its content for another file.
  return { steps: [...drops, ...ofFiles], documents: single.size, gone: left.length };
}

function compare(file: LocalFile, document: Document, uploads: Document[]): Step {
  if (document.sha256 === file.sha256) return { action: 'keep', file, document, stale: uploads };
  const upload = uploads.find(({ sha256 }) => sha256 === file.sha256);
  if (upload?.failedJob) return { action: 'give up', file, upload };
  const stale = uploads.filter((one) => one !== upload);
  return { action: upload ? 'keep' : 'replace', file, document, stale };
}

function contentKey({ sha256, contentType }: Pick<Document, 'sha256' | 'contentType'>): string {
  return `${contentType} ${sha256}`;
}

function grouped<T>(items: T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
