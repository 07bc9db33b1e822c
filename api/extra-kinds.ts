import type { AiClient } from '../ai/client.ts';
import type { ServerConfig } from '../config/server.ts';
import { ApiError } from '../contract/api-error.ts';
import type { Issue } from '../contract/errors.ts';
import { type JobKind, noSuchKind } from '../contract/jobs.ts';
import { invalidInput } from './http/errors.ts';

interface Deps {
  config: Pick<ServerConfig, 'extraJobKinds'>;
  ai: Pick<AiClient, 'health'>;
}

/**
 * Checks that this deployment has a kind of job, before one is created. Throws BAD_REQUEST, as for a kind that nobody has, unless
 * `EXTRA_JOB_KINDS` names it, and PRECONDITION_FAILED without a remote chat model. If the AI service does not say, the job finds out.
 */
export async function checkKind({ config, ai }: Deps, kind: JobKind, path: Issue['path'] = []): Promise<void> {
  if (kind !== 'document.extractFields') return;
  if (!config.extraJobKinds.includes(kind)) throw invalidInput([{ path: [...path, 'kind'], message: noSuchKind }]);
  const health = await ai.health().catch(() => undefined);
  if (health?.chat !== 'local') return;
  throw new ApiError('PRECONDITION_FAILED', { message: 'Fields are extracted by a remote model, and this deployment has none.' });
}
