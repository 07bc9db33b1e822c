import type { DocumentScope } from '../documents/document-scope.ts';
import type { Rest } from '../scan-pace.ts';

/** Whose chunks are searched, and with what. */
export interface ChunkQuery {
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
  /** Called after each slice of a scan. */
  rest?: Rest | undefined;
}

/** A chunk that may be among the nearest to a query. */
export interface Candidate {
  documentId: string;
  index: number;
}

/** Of a document that may be among the nearest, this many chunks are candidates: one of them scores best exactly. */
export const candidatesOfDocument = 3;
