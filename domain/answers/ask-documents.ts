import type { Transaction } from '../../db/connect.ts';
import { creditsPerAnswer, openCharge, refundCharge, settleCharge } from '../credits/open-charge.ts';
import { type Search, type SearchDeps, searchDocuments } from '../search/search-documents.ts';
import type { Answer, Written } from './answer.ts';
import { type Passage, readPassages } from './read-passages.ts';
import { nothing, toAnswer } from './to-answer.ts';

interface AskDeps extends Omit<SearchDeps, 'isCharged' | 'actorId'> {
  /** The user or the API key that asks. */
  actorId: string;
  /** Has an answer written from passages. An error ends the question with it. */
  write(passages: Passage[]): Promise<Written>;
}

/** Stores an answer in the transaction of the effect, and returns it; another one if a request of the same key was faster. */
export type Keep = (effect: (trx: Transaction) => Promise<Answer>) => Promise<Answer>;

/**
 * Answers a question from the documents of a workspace. It is charged before anything is searched; the transaction that keeps the answer
 * settles the charge, or gives it back if there was no passage to write of. Whatever fails gives it back, too, and the sweep if the process
 * dies. Throws LIMIT_REACHED without credits.
 */
export async function askDocuments(deps: AskDeps, search: Search, keep: Keep): Promise<Answer> {
  const { db, getPlan, actorId, onUnsettled } = deps;
  const { organization_id: organizationId, id: workspaceId } = search.workspace;
  const id = await openCharge(db, getPlan, 'answer', { organizationId, workspaceId, actorId });
  const refund = (reason?: string) => refundCharge(db, 'answer', id, reason).catch((error) => onUnsettled(error, id));
  try {
    const { chunks } = await searchDocuments({ ...deps, isCharged: false }, search);
    const passages = await readPassages(db, chunks);
    const isWritten = passages.length > 0;
    const proven = isWritten ? toAnswer(search.query, await deps.write(passages), passages) : nothing;
    const answer = await keep(async (trx) => {
      if (isWritten) await settleCharge(trx, 'answer', id);
      else await refundCharge(trx, 'answer', id, 'nothing found');
      return { id, organizationId, ...proven, credits: isWritten ? creditsPerAnswer : 0 };
    });
    if (answer.id !== id) await refund('answered before');
    return answer;
  } catch (error) {
    await refund();
    throw error;
  }
}
