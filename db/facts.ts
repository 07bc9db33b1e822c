import type { Db, Transaction } from './connect.ts';
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
type CreditPurpose = 'job' | 'search';
/** How chunks were found: by a vector index, by pgvector's exact scan, by a scan of quantized vectors, or by words alone. */
export type SearchPath = 'index' | 'exact' | 'quantized' | 'lexical';

export type Observe = (fact: Fact) => void;

const observers = new WeakMap<object, Observe>();
const collected = new WeakMap<object, Fact[]>();

/** Sets the observer of facts of `db`. It must not throw. */
export function setObserver(db: Db, observe: Observe): void {
  observers.set(db, observe);
}

/** Reports a fact: at once, or after the commit in a transaction of `inTransaction`. */
export function addFact(db: Db | Transaction, fact: Fact): void {
  const facts = collected.get(db);
  if (facts) facts.push(fact);
  else observers.get(db)?.(fact);
}

/** Lets a transaction collect facts until {@link tellFacts}. A rollback drops them. */
export function collectFacts(trx: Transaction): void {
  collected.set(trx, []);
}

/** Reports the facts of a committed transaction. */
export function tellFacts(db: Db, trx: Transaction): void {
  const observe = observers.get(db);
  if (observe) for (const fact of collected.get(trx) ?? []) observe(fact);
}
