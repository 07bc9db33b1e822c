import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { contentTypes } from '../contract/documents.ts';

type ContentType = (typeof contentTypes)[number];

const byExtension: Record<string, ContentType> = {
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.htm': 'text/html',
  '.json': 'application/json',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.tif': 'image/tiff',
  '.tiff': 'image/tiff',
};

/** A file that can be uploaded. */
export interface DemoFile {
  path: string;
  name: string;
  contentType: ContentType;
  sizeBytes: number;
}

const samples = fileURLToPath(new URL('../samples', import.meta.url));
const queriesName = 'queries.json';
const queriesSchema = z.array(z.object({ query: z.string(), document: z.string(), contains: z.string() }));

/** The paths of the sample documents. */
export function samplePaths(): string[] {
  const names = readdirSync(samples).filter((name) => extname(name) in byExtension && name !== queriesName);
  return names.sort().map((name) => join(samples, name));
}

/** What to search the sample documents for. */
export function sampleQueries(): string[] {
  return queriesSchema.parse(JSON.parse(readFileSync(join(samples, queriesName), 'utf8'))).map(({ query }) => query);
}

/** Looks at a file before anything is sent. Throws an error for the user when it is missing, unreadable, empty or of a type that is not taken. */
export function inspectFile(path: string): DemoFile {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new Error('there is no such file');
  if (!stats.isFile()) throw new Error('this is not a file');
  const contentType = byExtension[extname(path).toLowerCase()];
  if (!contentType) throw new Error('files of this type are not taken: PDF, text, Markdown, CSV, HTML, JSON, PNG, JPEG, WebP and TIFF are');
  if (stats.size === 0) throw new Error('the file is empty');
  try {
    accessSync(path, constants.R_OK);
  } catch {
    throw new Error('the file cannot be read');
  }
  return { path, name: basename(path), contentType, sizeBytes: stats.size };
}
