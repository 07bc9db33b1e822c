import type { DocumentScope } from '../documents/document-scope.ts';

/** A query by vector: the workspace, and the vector to compare its chunks with. */
export interface VectorQuery {
  workspaceId: string;
  model: string;
  /** It has unit length. */
  vector: Float32Array;
  /** The number of chunks, or of documents, to find. */
  limit: number;
  /** The documents to search; the whole workspace if undefined. */
  scope?: DocumentScope | undefined;
  /** Find the best documents, by the best chunk of each. */
  byDocument?: boolean | undefined;
}

/** The key of a chunk: its document and its index in it. */
export interface ChunkKey {
  documentId: string;
  index: number;
}

/** How many candidates to rank by exact scores, since halves and bytes change the order of a few of the nearest. */
export const candidatesFor = (limit: number) => 2 * limit + 20;
