import type { DocumentScope } from '../documents/document-scope.ts';

/** Whose chunks are compared, and with what. */
export interface VectorQuery {
  workspaceId: string;
  model: string;
  /** Of unit length. */
  vector: Float32Array;
  /** How many chunks to find, or how many documents. */
  limit: number;
  /** The documents that are searched; all of the workspace if undefined. */
  scope?: DocumentScope | undefined;
  /** Find the best documents, by the best chunk of each. */
  byDocument?: boolean | undefined;
}

/** A chunk by its place. */
export interface ChunkKey {
  documentId: string;
  index: number;
}

/** To be ranked by exact scores: halves and bytes put a few of the nearest in another order. */
export const candidatesFor = (limit: number) => 2 * limit + 20;
