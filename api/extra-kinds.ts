import type { AiClient } from '../adapters/ai-service/client.ts';
import type { ServerConfig } from '../base/config/server.ts';
import { ApiError } from '../contract/api-error.ts';
import type { Issue } from '../contract/errors.ts';
import { type JobKind, noSuchKind, usualJobKinds } from '../contract/jobs.ts';
import { invalidInput } from './http/errors.ts';

interface Deps {
  config: Pick<ServerConfig, 'extraJobKinds'>;
  ai: Pick<AiClient, 'health'>;
}

/**
 * Checks that this deployment has a kind of job, before one is created. Throws as {@link refuseMissing}, and PRECONDITION_FAILED without a
 * remote chat model that the kind needs. If the AI service does not say, the job finds out.
 */
export async function checkKind({ config, ai }: Deps, kind: JobKind, path: Issue['path'] = ['kind']): Promise<void> {
  refuseMissing(config, kind, { path, message: noSuchKind });
  if (kind !== 'document.extractFields') return;
  const health = await ai.health().catch(() => undefined);
  if (health?.chat !== 'local') return;
  throw new ApiError('PRECONDITION_FAILED', { message: 'Fields are extracted by a remote model, and this deployment has none.' });
}

/** Throws BAD_REQUEST with this issue, as for a kind that nobody has, if only other deployments have the kind. */
export function refuseMissing(config: Deps['config'], kind: JobKind, issue: Issue): void {
  if (!hasKind(config, kind)) throw invalidInput([issue]);
}

/** Whether every deployment has the kind, or `EXTRA_JOB_KINDS` names it. */
export function hasKind({ extraJobKinds }: Deps['config'], kind: JobKind): boolean {
  return [...usualJobKinds, ...extraJobKinds].includes(kind);
}
