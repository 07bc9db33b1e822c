import type { Express, RequestHandler } from 'express';
import express from 'express';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { AiServiceConfig } from '../base/config/ai-service.ts';
import { type AiOperation, aiOperations, aiService } from '../contract/ai-service/index.ts';
import type { EmbedModel } from './embedding/embed-models.ts';
import { authenticate, handleError, logRequests, notFound, requestId } from './http/middleware.ts';
import { type ObserveRequest, observeRequests } from './http/observe-requests.ts';
import { traceRequests } from './http/trace-requests.ts';
import type { Provider } from './providers.ts';
import type { Ocr } from './recognition/backends.ts';
import { documentationRoutes } from './routes/documentation.ts';
import { extractRoute } from './routes/extract.ts';
import { createJsonRoutes } from './routes/handlers.ts';
import type { ProcessPool } from './sandbox/process-pool.ts';
import { readTenant } from './tenant.ts';
import { tallyUsage } from './usage.ts';

/** The report of GET /health, without any secret: one sentence in `problems` for each reason why the configuration cannot serve. */
type Health = z.input<(typeof aiService.health.responses)[200]>;

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
  const { config, logger } = parts;
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use(requestId, logRequests(logger));
  if (parts.observeRequest) app.use(observeRequests(parts.observeRequest));
  app.get(aiService.health.path, (_request, response) => {
    response.json(parts.health());
  });
  app.use(authenticate(config.token, config.previousToken), traceRequests, readTenant, tallyUsage);
  const routes: Record<AiOperation, RequestHandler> = {
    extract: extractRoute({ ...parts, readers: parts.poolSize }),
    ...createJsonRoutes(config, parts.provider),
  };
  for (const name of aiOperations) app.post(aiService[name].path, routes[name]);
  app.use(documentationRoutes(config));
  app.use(notFound);
  app.use(handleError(logger));
  return app;
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
    embeddings: [describeModel(provider.models[0]), ...provider.models.slice(1).map(describeModel)],
  };
}

function describeModel({ name, dimensions, chunkCharacters, textsPerCall }: EmbedModel): Health['embeddings'][number] {
  return { model: name, dimensions, chunk_characters: chunkCharacters, texts_per_call: textsPerCall };
}
