import { type CallOwner, patiently } from '../../adapters/ai-service/client.ts';
import { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';
import type { AnyRoute, RouteInput } from '../../contract/route.ts';
import { type Answer, type NumberedAnswer, withoutDeleted } from '../../domain/answers/answer.ts';
import { type Asked, askDocuments, type Keep } from '../../domain/answers/ask-documents.ts';
import { leansOnBefore } from '../../domain/answers/leaning.ts';
import type { Passage } from '../../domain/answers/read-passages.ts';
import { toUnits } from '../../domain/answers/to-answer.ts';
import { findRecord } from '../../domain/idempotency.ts';
import { newId } from '../../domain/ids.ts';
import type { IndexKind } from '../../domain/search/index-kind.ts';
import { readSearchedIndex } from '../../domain/search/searched-index.ts';
import { getWorkspace } from '../../domain/workspaces/workspace.ts';
import { callerId, checkStill, isKey } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { withIdempotency } from '../idempotency.ts';
import { clientLeft, type HandlerContext, procedure, type RequestInfo, type StreamEvent } from '../procedure.ts';
import { type Asking, embedQuery, patienceMs, rerankTexts, toFilter, unavailable } from './document-search.ts';

type Context = HandlerContext<RouteInput<typeof contract.documents.ask>>;

/** The time limit for picking the answer. With that of the embedding it is less than the client waits. */
const pickTimeoutMs = 60_000;

/** `documents.ask`: limits how often a user asks. A question ends when its client leaves. */
export function documentAsk(deps: ApiDeps) {
  return procedure(contract.documents.ask, (context) => answerOnce(deps, contract.documents.ask, context));
}

/**
 * `documents.askStream`: the same answer, sentence by sentence. The whole answer is stored before the first sentence is sent, so that a
 * client whose connection broke can fetch the missing ones.
 */
export function documentAskStream(deps: ApiDeps) {
  const route = contract.documents.askStream;
  return procedure(route, async (context) => {
    const { input, caller, request, authorize } = context;
    const workspace = await getWorkspace(deps.db, input.workspaceId);
    await authorize(workspace.organization_id, workspace.id);
    const { key, sent } = readPosition(request);
    const record = { userId: callerId(caller), operation: route.metadata.operation, key, request: input };
    // Every sent answer is stored, so one that is not stored was never sent to this client.
    if (sent > 0 && !(await findRecord(deps.db, record))) throw notIssued();
    request.setHeader('Last-Event-Id', toEventId(key, sent));
    // The headers are already sent when the answer is there.
    const asked = { ...context, request: { ...request, idempotencyKey: key, setHeader: () => {} } };
    return toEvents(() => answerOnce(deps, route, asked), key, sent);
  });
}

async function* toEvents(answerIt: () => Promise<NumberedAnswer>, key: string, sent: number): AsyncGenerator<StreamEvent> {
  const { sentences, total, ...rest } = await answerIt();
  const events = [
    ...sentences.map(({ index, ...sentence }) => ({ number: index + 1, data: { ...sentence, type: 'sentence' } })),
    { number: total + 1, data: { ...rest, type: 'end' } },
  ];
  // A client that has all sentences still gets the last event, which says that there are no more.
  for (const { number, data } of events) if (number > sent || number > total) yield { id: toEventId(key, number), data };
}

/** The key of the stored answer, and how many of its events the client has. Throws BAD_REQUEST for an event of another answer. */
function readPosition({ idempotencyKey, lastEventId }: RequestInfo): { key: string; sent: number } {
  if (lastEventId === undefined) return { key: idempotencyKey ?? newId(), sent: 0 };
  const [, encoded = '', sent] = /^([\w.!~*'()%-]{1,600})\.(\d{1,3})$/.exec(lastEventId) ?? [];
  const key = decode(encoded);
  if (key === undefined || (idempotencyKey !== undefined && idempotencyKey !== key)) throw notIssued();
  return { key, sent: Number(sent) };
}

function toEventId(key: string, number: number): string {
  return `${encodeURIComponent(key)}.${number}`;
}

function decode(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded) || undefined;
  } catch {
    return undefined;
  }
}

function notIssued(): ApiError {
  const message = 'The Last-Event-Id was not issued by a stream of this question, or more than a day ago.';
  return new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['Last-Event-Id'], message }] } });
}

/** Answers the question of a request, or returns the answer that its key got before. */
async function answerOnce(deps: ApiDeps, route: AnyRoute, context: Context): Promise<NumberedAnswer> {
  const answer = await withIdempotency<Answer>(deps.db, route, context, (once) => ask(deps, context, once));
  return await withoutDeleted(deps.db, answer);
}

async function ask(deps: ApiDeps, { input, caller, request, log, authorize }: Context, keep: Keep): Promise<Answer> {
  const { config, db, sessionsDb, getPlan, ai, limiters } = deps;
  const workspace = await getWorkspace(db, input.workspaceId);
  await authorize(workspace.organization_id, workspace.id);
  if (!isKey(caller)) await limiters.questions.consume(caller.userId, request.setHeader);
  const reached = { organizationId: workspace.organization_id, workspaceId: workspace.id };
  const { signal, requestId } = request;
  const [id, actorId] = [newId(), callerId(caller)];
  const owner: CallOwner = { purpose: 'answer', purposeId: id, workspaceId: workspace.id, actorId };
  const asking = { signal, requestId, tenant: workspace.organization_id, owner, log };
  const { limit, maxSentences } = input;
  const draft = (input.draft ?? false) && config.answers.drafts !== 'off';
  const asked = {
    ...{ id, db, getPlan, signal, actorId },
    embed: (query: string, index: IndexKind | undefined) => embedQuery(ai, { query, index }, asking),
    rerank: config.searches.reranks ? (query: string, texts: string[]) => rerankTexts(ai, query, texts, asking) : undefined,
    maxSentences,
    understand: () => understand(ai, input, asking),
    pick: async (about: Asked, passages: Passage[], embedModel: string) => {
      const picked = await pick(ai, { ...about, passages, embed_model: embedModel, maxSentences, draft }, asking);
      await checkStill(sessionsDb, caller, { ...reached, permission: 'document:read' });
      return picked;
    },
    onUnsettled: (err: unknown, chargeId: string) => log.warn({ err, chargeId }, 'the charge of an answer could not be settled'),
  };
  const mode = input.mode ?? config.searches.defaultMode;
  try {
    const index = await readSearchedIndex(db, workspace.id);
    return await askDocuments(asked, { workspace, index, mode, limit, filter: toFilter(input.filter) }, keep);
  } catch (error) {
    throw signal.aborted ? clientLeft() : error;
  }
}

/** The time limit for rewriting a question, which can be answered without. */
const rewriteTimeoutMs = 10_000;

/**
 * A question of a conversation as one that stands by itself, by the model of the AI service. Without a model, or if it fails or takes too
 * long, the question as it is, with the one before if it leans on that. Throws the signal's reason.
 */
async function understand(
  ai: ApiDeps['ai'],
  { question, before, conversation = [] }: Context['input'],
  { signal: asking, requestId, tenant, owner, log }: Asking,
): Promise<Asked> {
  const earlier = before ? [...conversation.slice(-19), before] : conversation;
  const last = earlier.at(-1);
  if (last === undefined) return { question, before: null };
  const asIs = { question, before: before || leansOnBefore(question, last) ? last : null };
  try {
    const signal = AbortSignal.any([asking, AbortSignal.timeout(rewriteTimeoutMs)]);
    const rewritten = await ai.rewrite({ question, earlier, signal, requestId, tenant, owner, patienceMs });
    return rewritten === null ? asIs : { question: rewritten, before: before ?? null };
  } catch (error) {
    asking.throwIfAborted();
    log.warn({ err: error }, 'a question could not be rewritten');
    return asIs;
  }
}

/** Has the AI service pick units of passages. Throws SERVICE_UNAVAILABLE if it fails or takes too long, and the signal's reason. */
async function pick(
  ai: ApiDeps['ai'],
  { passages, ...rest }: Asked & { passages: Passage[]; embed_model: string; maxSentences: number; draft: boolean },
  { signal: asking, requestId, tenant, owner, log }: Asking,
) {
  try {
    const signal = AbortSignal.any([asking, AbortSignal.timeout(pickTimeoutMs)]);
    const answer = () => ai.answer({ ...rest, passages: passages.map(toUnits), signal, requestId, tenant, owner, patienceMs });
    return await patiently(answer, { until: Date.now() + pickTimeoutMs, signal });
  } catch (error) {
    asking.throwIfAborted();
    log.warn({ err: error }, 'a question could not be answered');
    throw unavailable('The AI service could not answer the question.', error);
  }
}
