import type { Db, Transaction } from '../../db/connect.ts';
import { creditsPerAnswer, openCharge, refundCharge, settleCharge } from '../credits/open-charge.ts';
import { lockOrganization } from '../locks.ts';
import { type Search, type SearchDeps, searchDocuments } from '../search/search-documents.ts';
import type { Answer, Picked } from './answer.ts';
import { type Passage, readPassages } from './read-passages.ts';
import { type Made, nothing, toAnswer } from './to-answer.ts';

/** A question; `before` is the one that it leans on, whose words count as its own. */
export interface Asked {
  question: string;
  before: string | null;
}

interface AskDeps extends Omit<SearchDeps, 'isCharged' | 'actorId' | 'id'> {
  /** The id of the answer. */
  id: string;
  /** The user or the API key that asks. */
  actorId: string;
  /** The question as it is searched for and answered. */
  understand(): Promise<Asked>;
  /** Picks the units that answer the question. `embedModel` made the similarities of the passages. An error fails the question. */
  pick(asked: Asked, passages: Passage[], embedModel: string): Promise<Picked>;
  maxSentences: number;
}

/** Stores an answer in the transaction that settles the charge, and returns it; or the answer of a faster request with the same key. */
export type Keep = (effect: (trx: Transaction) => Promise<Answer>) => Promise<Answer>;

/**
 * Answers a question from the documents of a workspace. Charges before the search. The transaction that stores the answer settles the charge,
 * or refunds it if the answer has no sentence. A failure refunds it, too; if the process dies, the sweep does. Throws LIMIT_REACHED without
 * credits.
 */
export async function askDocuments(deps: AskDeps, search: Omit<Search, 'query'>, keep: Keep): Promise<Answer> {
  const { id, db, getPlan, actorId, onUnsettled } = deps;
  const { organization_id: organizationId, id: workspaceId } = search.workspace;
  await openCharge(db, getPlan, 'answer', { id, organizationId, workspaceId, actorId });
  const refund = (reason?: string) => refundCharge(db, 'answer', id, reason).catch((error) => onUnsettled(error, id));
  try {
    const made = (await isAnythingIndexed(db, workspaceId)) ? await makeAnswer(deps, search) : nothing;
    const isAnswered = made.sentences.length > 0;
    const answer = await keep(async (trx) => {
      // The deletion of the organization would miss an answer that is stored after it.
      await lockOrganization(trx, organizationId);
      if (isAnswered) await settleCharge(trx, 'answer', id);
      else await refundCharge(trx, 'answer', id, 'nothing found');
      return { id, organizationId, ...made, credits: isAnswered ? creditsPerAnswer : 0 };
    });
    if (answer.id !== id) await refund('answered before');
    return answer;
  } catch (error) {
    await refund();
    throw error;
  }
}

async function makeAnswer(deps: AskDeps, search: Omit<Search, 'query'>): Promise<Made> {
  const asked = await deps.understand();
  const query = asked.before === null ? asked.question : `${asked.before} ${asked.question}`;
  const { model, chunks } = await searchDocuments({ ...deps, isCharged: false }, { ...search, query });
  const passages = await readPassages(deps.db, chunks);
  return passages.length > 0 ? toAnswer(await deps.pick(asked, passages, model), passages, deps.maxSentences) : nothing;
}

/** Whether a search of a workspace can find anything: without, a provider would be paid for nothing. */
async function isAnythingIndexed(db: Db, workspaceId: string): Promise<boolean> {
  const chunk = db.selectFrom('chunk').select('id').where('workspace_id', '=', workspaceId).limit(1);
  return (await chunk.executeTakeFirst()) !== undefined;
}
