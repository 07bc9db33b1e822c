/** Whose chunks are searched, and with what. */
export interface ChunkQuery {
  workspaceId: string;
  model: string;
  /** Of unit length. */
  vector: Float32Array;
  limit: number;
}

/** A chunk that may be among the nearest to a query. */
export interface Candidate {
  documentId: string;
  index: number;
}
