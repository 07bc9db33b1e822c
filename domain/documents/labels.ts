import { createHash } from 'node:crypto';

/** What members say of a document. */
export interface Labels {
  tags: string[];
  /** Any JSON object. */
  metadata: Record<string, unknown>;
}

/** What an index finds labels by: a key for each tag, and for each field of the metadata that is no list. */
export function labelKeysOf(workspaceId: string, { tags, metadata }: Labels): string[] {
  const parts = [...tags.map((tag) => ['tag', tag]), ...fieldsOf(metadata, []).map((field) => ['metadata', ...field])];
  return [...new Set(parts.map((part) => keyOf([workspaceId, ...part])))];
}

/** The columns of a document that hold its labels. A tag that is there twice is kept once. */
export function toLabelColumns(workspaceId: string, labels: Labels) {
  const tags = [...new Set(labels.tags)];
  const metadata = JSON.stringify(labels.metadata);
  const keys = labelKeysOf(workspaceId, labels);
  const bytes = Buffer.byteLength(metadata) + Buffer.byteLength(JSON.stringify(tags));
  return { tags, metadata, labels: keys.length > 0 ? keys : null, label_bytes: bytes };
}

type Field = [path: string[], value: unknown];

function fieldsOf(object: object, path: string[]): Field[] {
  return Object.entries(object).flatMap(([key, value]): Field[] => {
    if (Array.isArray(value)) return [];
    return typeof value === 'object' && value !== null ? fieldsOf(value, [...path, key]) : [[[...path, key], value]];
  });
}

/** 64 bits of a cryptographic hash, which nobody chooses. Whoever reads by keys compares the labels, too. */
function keyOf(parts: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest().readBigInt64BE().toString();
}
