import { createHash } from 'node:crypto';

/** The tags and metadata that members give to a document. */
export interface Labels {
  tags: string[];
  /** Any JSON object. */
  metadata: Record<string, unknown>;
}

/** The keys by which an index finds labels: one for each tag, and one for each field of the metadata that is not a list. */
export function labelKeysOf(workspaceId: string, { tags, metadata }: Labels): string[] {
  const parts = [...tags.map((tag) => ['tag', tag]), ...fieldsOf(metadata, []).map((field) => ['metadata', ...field])];
  return [...new Set(parts.map((part) => keyOf([workspaceId, ...part])))];
}

/** The columns of a document that hold its labels. */
export function toLabelColumns(workspaceId: string, labels: Labels) {
  const metadata = JSON.stringify(labels.metadata);
  const keys = labelKeysOf(workspaceId, labels);
  const bytes = Buffer.byteLength(metadata) + Buffer.byteLength(JSON.stringify(labels.tags));
  return { tags: labels.tags, metadata, labels: keys.length > 0 ? keys : null, label_bytes: bytes };
}

type Field = [path: string[], value: unknown];

function fieldsOf(object: object, path: string[]): Field[] {
  return Object.entries(object).flatMap(([key, value]): Field[] => {
    if (Array.isArray(value)) return [];
    return typeof value === 'object' && value !== null ? fieldsOf(value, [...path, key]) : [[[...path, key], value]];
  });
}

/** 64 bits of a cryptographic hash, so that nobody can choose keys that collide. Queries by key also compare the labels themselves. */
function keyOf(parts: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest().readBigInt64BE().toString();
}
