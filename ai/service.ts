import type { Express } from 'express';
import express from 'express';
import type { Logger } from 'pino';
import type { AiServiceConfig } from '../config/ai-service.ts';
import { answerError, notFound } from './http/answer-error.ts';
import { authenticate } from './http/authenticate.ts';
import { Bulkhead } from './http/bulkhead.ts';
import { logRequests } from './http/log-requests.ts';
import { requestId } from './http/request-id.ts';
import type { OcrBackend } from './ocr/ocr-backend.ts';
import type { ProcessPool } from './pool/process-pool.ts';
import type { Provider } from './providers/provider.ts';
import { documentationRoutes } from './routes/documentation.ts';
import { embedRoute } from './routes/embed.ts';
import { extractRoute } from './routes/extract.ts';
import type { Health } from './routes/health.ts';
import { healthRoute } from './routes/health.ts';
import { summarizeRoute } from './routes/summarize.ts';

/** What the service is made of. */
export interface ServiceParts {
  config: AiServiceConfig;
  logger: Logger;
  pool: ProcessPool;
  poolSize: number;
  provider: Provider;
  ocr: () => OcrBackend | undefined;
  health: () => Health;
}

/** The service as an Express application that does not listen yet. Everything but /health is behind the token. */
export function createService(parts: ServiceParts): Express {
  const { config, logger, provider } = parts;
  // Some uploads more than there are readers, so that the next one is at hand when a reader is free.
  const bulkhead = new Bulkhead(parts.poolSize * 2 + 2, 512);
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use(requestId, logRequests(logger));
  app.get('/health', healthRoute(parts.health));
  app.use(authenticate(config.token));
  app.post('/v1/extract', extractRoute({ ...parts, bulkhead }));
  app.post('/v1/summarize', summarizeRoute(provider, config.maxTextCharacters));
  app.post('/v1/embed', embedRoute(provider));
  app.use(documentationRoutes(config));
  app.use(notFound);
  app.use(answerError(logger));
  return app;
}
