import type { JobKind } from './schema.ts';

/** Something that happened and is committed, for the metrics. It holds no ids, since its fields become labels. */
export type Fact =
  | { what: 'job created'; kind: JobKind }
  | { what: 'attempt begun'; kind: JobKind }
  /** An attempt ended, or a job without one. `seconds` is the duration of the attempt; undefined without one. */
  | { what: 'job changed'; kind: JobKind; outcome: JobOutcome; seconds: number | undefined }
  | { what: 'credits charged' | 'credits refunded'; purpose: CreditPurpose; credits: number }
  | { what: 'upload completed'; bytes: number }
  | { what: 'search scanned'; path: SearchPath; seconds: number };

/**
 * `retried`: the attempt failed, and the job is queued again. `failed` is final. `obsolete`: it failed because its document or workspace
 * was deleted, which needs no operator.
 */
export type JobOutcome = 'succeeded' | 'failed' | 'obsolete' | 'retried' | 'canceled';
export type CreditPurpose = 'job' | 'search' | 'answer';
/** How chunks were found: by a vector index, by pgvector's exact scan, by a scan of quantized vectors, or by words alone. */
export type SearchPath = 'index' | 'exact' | 'quantized' | 'lexical';

/** Gets facts. It must not throw. */
export type Observe = (fact: Fact) => void;
