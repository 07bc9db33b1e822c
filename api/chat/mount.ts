import express, { type ErrorRequestHandler, type RequestHandler, type Response, type Router } from 'express';
import { z } from 'zod';
import { ApiError } from '../../contract/api-error.ts';
import { maxBodyBytes } from '../../contract/errors.ts';
import { type Contract, contract } from '../../contract/index.ts';
import type { AnyRoute, RouteInput, RouteOutput } from '../../contract/route.ts';
import type { KeyCaller } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { invalidInput, renderError, toIssues } from '../http/errors.ts';
import { jsonBody } from '../http/json-body.ts';
import { requestIdOf, requestInfo } from '../http/request.ts';
import { limitRequests } from '../limits/limiters.ts';
import { type Procedure, type Procedures, run } from '../procedure.ts';
import { citationUrl } from './citation-url.ts';
import { toChunks, toCompletion } from './completion.ts';

const { documents } = contract;

/** The fields of a request that are used. All others, such as settings of the model, are ignored, as other servers of the protocol do. */
const completionRequest = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish() })),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
});

/**
 * The chat protocol of OpenAI, for clients with an API key: `/chat/completions`, whose model is the id of a workspace, and `/models`. The last
 * message of the user is the question. Each request is one of `documents.ask`, with its limits, credits and errors.
 */
export function chatRoutes(deps: ApiDeps, procedures: Procedures<Contract>): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const limited = limitRequests(deps.limiters, deps.authentication);

  /** The workspaces that a request's key reaches. */
  async function readModels(...[req, res]: Parameters<typeof requestInfo>) {
    const { organizationId } = res.locals.key as KeyCaller;
    const reached = await call(procedures.workspaces.list, { organizationId }, req, res);
    return reached.map(({ id, name, createdAt }) => ({ id, name, object: 'model', created: seconds(createdAt), owned_by: organizationId }));
  }

  const listModels: RequestHandler = async (req, res) => {
    res.json({ object: 'list', data: await readModels(req, res) });
  };

  const getModel: RequestHandler = async (req, res) => {
    const model = (await readModels(req, res)).find(({ id }) => id === req.params.id);
    if (!model) throw new ApiError('NOT_FOUND', { message: 'This key reaches no workspace with this id.' });
    res.json(model);
  };

  const complete: RequestHandler = async (req, res) => {
    const { model, messages, stream, stream_options: options } = parse(completionRequest, req.body ?? {});
    const input = {
      ...parse(documents.ask.pathParams, { workspaceId: model }),
      ...parse(documents.ask.body, { ...questionOf(messages), mode: 'hybrid', draft: deps.config.answers.drafts === 'chat' }),
    };
    const answer = await call(procedures.documents.ask, input, req, res);
    const head = { id: `chatcmpl-${answer.id}`, created: seconds(), model };
    const told = { urlOf: await citationUrl(deps, input.workspaceId), question: input.question };
    if (stream) sendChunks(res, toChunks(head, answer, { ...told, usage: options?.include_usage ?? false }));
    else res.json(toCompletion(head, answer, told));
  };

  router.get('/models', limited, authorized, listModels);
  router.get('/models/:id', limited, authorized, getModel);
  router.post('/chat/completions', limited, authorized, jsonBody(deps.largeBodies), complete);
  router.use(['/models', '/chat/completions'], chatErrors(deps));
  return router;

  /** Runs an operation as the key of a request. */
  function call<R extends AnyRoute>(procedure: Procedure<R>, input: RouteInput<R>, ...[req, res]: Parameters<typeof requestInfo>) {
    const request = { input, caller: res.locals.key as KeyCaller, request: requestInfo(req, res) };
    return run(deps, procedure, request) as Promise<RouteOutput<R>>;
  }
}

/** {@link limitRequests} has looked the key up. */
const authorized: RequestHandler = (_req, res, next) => {
  if (!res.locals.key) throw new ApiError('UNAUTHORIZED', { message: 'This is no API key, or it is revoked, expired or suspended.' });
  next();
};

const maxConversation = 5;
const maxQuestionLength = 1_000;

/** The text of the last message of the user, on one line, and those of some before it. Throws BAD_REQUEST if there is none. */
function questionOf(messages: z.output<typeof completionRequest>['messages']): { question: string; conversation: string[] } {
  const said = messages.filter(({ role }) => role === 'user').map(textOf);
  const question = said.pop() ?? '';
  if (question === '') throw invalidInput([{ path: ['messages'], message: 'must have a message of the role user with a text' }]);
  const conversation = said.filter((text) => text !== '').slice(-maxConversation);
  return { question, conversation: conversation.map((text) => [...text].slice(0, maxQuestionLength).join('').trim()) };
}

function textOf({ content }: z.output<typeof completionRequest>['messages'][number]): string {
  const parts =
    typeof content === 'string' ? [content] : (content ?? []).map(({ type, text }) => (type === 'text' ? String(text ?? '') : ''));
  return parts
    .join(' ')
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

function parse<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw invalidInput(toIssues(parsed.error));
  return parsed.data;
}

function seconds(time: string | number = Date.now()): number {
  return Math.floor(new Date(time).getTime() / 1_000);
}

function sendChunks(res: Response, chunks: object[]): void {
  res.set({ 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' });
  for (const chunk of chunks) res.write(`data: ${JSON.stringify(chunk)}\n\n`);
  res.end('data: [DONE]\n\n');
}

/** Renders errors as the protocol's clients expect them. */
function chatErrors({ log }: Pick<ApiDeps, 'log'>): ErrorRequestHandler {
  return (error, _req, res, next) => {
    if (res.headersSent) return next(error);
    const rendered = renderError(error, { requestId: requestIdOf(res), route: documents.ask, log });
    const { status, headers, envelope, bare } = rendered;
    const type = status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'server_error';
    const unnamed =
      status === 413
        ? `The body is larger than ${maxBodyBytes} bytes.`
        : `The service failed; its log knows the cause as ${bare?.requestId}.`;
    const message = envelope?.message ?? unnamed;
    res
      .status(status)
      .set(headers)
      .json({ error: { message, type, param: null, code: envelope?.code ?? bare?.error } });
  };
}
