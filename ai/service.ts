import type { Express, RequestHandler } from 'express';
import express from 'express';
import type { Logger } from 'pino';
import type { AiServiceConfig } from '../base/config/ai-service.ts';
import { Bulkhead } from './http/in-flight.ts';
import { authenticate, handleError, logRequests, notFound, requestId } from './http/middleware.ts';
import { type ObserveRequest, type Operation, observeRequests, operations } from './http/observe-requests.ts';
import { traceRequests } from './http/trace-requests.ts';
import type { Provider } from './providers.ts';
import type { Ocr } from './recognition/backends.ts';
import {
  answerRoute,
  type ExtractBulkheads,
  embedRoute,
  extractRoute,
  fieldsRoute,
  rerankRoute,
  summarizeRoute,
} from './routes/handlers.ts';
import { documentationRoutes } from './routes/openapi.ts';
import type { ProcessPool } from './sandbox/process-pool.ts';

/** The report of GET /health, without any secret: one sentence in `problems` for each reason why the configuration cannot serve. */
interface Health {
  ok: boolean;
  provider: 'local' | 'remote';
  /** What answers questions. Only a remote model extracts fields. */
  chat: 'local' | 'remote';
  ocr: 'local' | 'remote' | 'none';
  auth: 'token' | 'disabled';
  problems: string[];
  /** The models that embed, the one of this deployment first. */
  embeddings: { model: string; dimensions: number | null; chunk_characters: number; texts_per_call: number }[];
}

/** The parts of the service. */
interface ServiceParts {
  config: AiServiceConfig;
  logger: Logger;
  pool: ProcessPool;
  poolSize: number;
  provider: Provider;
  ocr: Ocr;
  health: () => Health;
  observeRequest?: ObserveRequest | undefined;
}

/** The service as an Express application that does not listen yet. Everything except /health requires the token. */
export function createService(parts: ServiceParts): Express {
  const { config, logger, provider } = parts;
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use(requestId, logRequests(logger));
  if (parts.observeRequest) app.use(observeRequests(parts.observeRequest));
  app.get('/health', (_request, response) => {
    response.json(parts.health());
  });
  app.use(authenticate(config.token), traceRequests);
  const routes: Record<Operation, RequestHandler> = {
    extract: extractRoute({ ...parts, bulkheads: createBulkheads(parts.poolSize) }),
    summarize: summarizeRoute(provider, config.maxTextCharacters),
    embed: embedRoute(provider),
    answer: answerRoute(provider),
    fields: fieldsRoute(provider, config.maxTextCharacters),
    rerank: rerankRoute(config.remote),
  };
  for (const name of operations) app.post(`/v1/${name}`, routes[name]);
  app.use(documentationRoutes(config));
  app.use(notFound);
  app.use(handleError(logger));
  return app;
}

/** Bounds how many uploads `readers` processes have around them. */
function createBulkheads(readers: number): ExtractBulkheads {
  return {
    // A few more than there are readers, so that the next one is ready when a reader is free.
    uploads: new Bulkhead(readers * 2 + 2, 512),
    images: new Bulkhead(Math.ceil(readers / 2) + 1, 512),
    scans: new Bulkhead(readers, readers),
  };
}

/** Reads the state of the service: `ok` is false if the configuration cannot serve. */
export function readHealth(
  config: AiServiceConfig,
  {
    provider,
    pool,
    answerPool,
    ocr,
    embedPool,
  }: Record<'pool' | 'answerPool', ProcessPool> & { provider: Provider; ocr: Ocr; embedPool: ProcessPool | undefined },
): Health {
  const problems = [
    config.token === null ? 'Requests are not authenticated: SERVICE_AUTH_DISABLED is true.' : null,
    pool.problem === null ? null : `Documents cannot be read: ${pool.problem}.`,
    answerPool.problem === null ? null : `Questions cannot be answered: ${answerPool.problem}.`,
    embedPool?.problem ? `Texts cannot be embedded by the local model: ${embedPool.problem}.` : null,
    ocr.problem(),
  ].filter((problem) => problem !== null);
  return {
    ok: problems.length === 0,
    provider: provider.name,
    chat: provider.chat,
    ocr: ocr.backend()?.name ?? 'none',
    auth: config.token === null ? 'disabled' : 'token',
    problems,
    embeddings: provider.models.map(({ name, dimensions, chunkCharacters, textsPerCall }) => ({
      model: name,
      dimensions,
      chunk_characters: chunkCharacters,
      texts_per_call: textsPerCall,
    })),
  };
}
