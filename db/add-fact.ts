import type { Db, Transaction } from './connect.ts';
import type { Fact } from './facts.ts';

/** Reports a fact: at once, or after the commit in a transaction of `inTransaction`. A rollback drops it. */
export function addFact(db: Db | Transaction, fact: Fact): void {
  if ('facts' in db && db.facts) db.facts.push(fact);
  else if ('observe' in db) db.observe?.(fact);
}
