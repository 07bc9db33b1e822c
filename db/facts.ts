import type { Db, Transaction } from './connect.ts';
import type { JobKind } from './schema.ts';

/** Something that happened and is committed, for the metrics. It holds no ids: what it holds becomes labels. */
export type Fact =
  | { what: 'job created'; kind: JobKind }
  | { what: 'attempt begun'; kind: JobKind }
  /** An attempt, or a job that had none, came to an end. `seconds` is how long the attempt took; undefined if none was under way. */
  | { what: 'job changed'; kind: JobKind; outcome: JobOutcome; seconds: number | undefined }
  | { what: 'credits charged' | 'credits refunded'; purpose: CreditPurpose; credits: number }
  | { what: 'upload completed'; bytes: number }
  | { what: 'search scanned'; path: SearchPath; seconds: number };

/**
 * `retried`: the attempt failed, and the job is queued again. `failed` is final. `obsolete`: it failed because its document or workspace was
 * deleted, which is nothing that an operator should mend.
 */
export type JobOutcome = 'succeeded' | 'failed' | 'obsolete' | 'retried' | 'canceled';
type CreditPurpose = 'job' | 'search';
/** How the chunks were found: by a vector index, in pgvector's exact scan, in a scan of vectors in bytes, or by words alone. */
export type SearchPath = 'index' | 'exact' | 'quantized' | 'lexical';

export type Observe = (fact: Fact) => void;

const observers = new WeakMap<object, Observe>();
const collected = new WeakMap<object, Fact[]>();

/** Sets who is told of the facts of `db`. It must not throw. */
export function setObserver(db: Db, observe: Observe): void {
  observers.set(db, observe);
}

/** Tells of a fact: at once, or in a transaction of `inTransaction` after its commit. */
export function addFact(db: Db | Transaction, fact: Fact): void {
  const facts = collected.get(db);
  if (facts) facts.push(fact);
  else observers.get(db)?.(fact);
}

/** Lets a transaction collect facts until {@link tellFacts}. Those of one that rolls back are forgotten. */
export function collectFacts(trx: Transaction): void {
  collected.set(trx, []);
}

/** Tells of the facts of a transaction that is committed. */
export function tellFacts(db: Db, trx: Transaction): void {
  const observe = observers.get(db);
  if (observe) for (const fact of collected.get(trx) ?? []) observe(fact);
}
