import type { AiServiceConfig } from '../config/ai-service.ts';
import type { Ocr } from './ocr/choose-ocr.ts';
import type { ProcessPool } from './pool/process-pool.ts';
import type { Provider } from './providers/provider.ts';
import type { Health } from './routes/health.ts';

/** What /health reports: `ok` is false, with a sentence for each reason, when the configuration cannot serve. */
export function readHealth(config: AiServiceConfig, provider: Provider, pool: ProcessPool, ocr: Ocr): Health {
  const problems = [
    config.token === null ? 'Requests are not authenticated: SERVICE_AUTH_DISABLED is true.' : null,
    pool.problem === null ? null : `Documents cannot be read: ${pool.problem}.`,
    ocr.problem(),
  ].filter((problem) => problem !== null);
  return {
    ok: problems.length === 0,
    provider: provider.name,
    ocr: ocr.backend()?.name ?? 'none',
    auth: config.token === null ? 'disabled' : 'token',
    problems,
  };
}
