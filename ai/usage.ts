import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { RemoteRole } from '../base/config/remote-models.ts';
import { type ProviderUsage, usageHeader, writeUsage } from '../contract/ai-service/usage.ts';

const tallies = new AsyncLocalStorage<{ used: ProviderUsage | null }>();

/** Adds up what the work of a request has providers do. */
export const tallyUsage: RequestHandler = (_request, _response, next) => tallies.run({ used: null }, next);

/** What the request that this is a part of has had its provider do until now, as its header says it. */
export function readTally(): string {
  return writeUsage(tallies.getStore()?.used ?? null);
}

/** Says in the response what its request has had its provider do. */
export function tellUsage(response: Response): Response {
  return response.set(usageHeader, readTally());
}

const tokens = z.int().min(0);
/** What OpenAI, and those who speak its protocol, say of a call; a ranking has only a total. */
const reported = z.object({
  usage: z
    .object({
      prompt_tokens: tokens.nullish(),
      completion_tokens: tokens.nullish(),
      total_tokens: tokens.nullish(),
      prompt_tokens_details: z.object({ cached_tokens: tokens.nullish() }).nullish(),
      prompt_cache_hit_tokens: tokens.nullish(),
    })
    .transform((said) => {
      const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = said;
      const input = prompt ?? (total ?? Number.NaN) - (completion ?? 0);
      const cached = said.prompt_tokens_details?.cached_tokens ?? said.prompt_cache_hit_tokens ?? 0;
      return { input, cached: Math.min(cached, input), output: completion ?? (total ?? Number.NaN) - input };
    })
    .pipe(z.object({ input: tokens, cached: tokens, output: tokens })),
});

/** Counts a call that a provider may charge for, and the tokens that its answer reports. An answer without them is a call of unknown cost. */
export function countCall(role: RemoteRole, model: string, answered: unknown): void {
  const tally = tallies.getStore();
  if (!tally) return;
  const said = reported.safeParse(answered).data?.usage;
  const used = tally.used ?? { role, model, calls: 0, unreported: 0, input: 0, cached: 0, output: 0 };
  tally.used = {
    ...used,
    calls: used.calls + 1,
    unreported: used.unreported + (said ? 0 : 1),
    input: used.input + (said?.input ?? 0),
    cached: used.cached + (said?.cached ?? 0),
    output: used.output + (said?.output ?? 0),
  };
}
