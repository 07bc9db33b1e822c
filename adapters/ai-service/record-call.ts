import { cannotConnect } from '../../base/cannot-connect.ts';
import { aiService } from '../../contract/ai-service/index.ts';
import { type ProviderUsage, readUsage } from '../../contract/ai-service/usage.ts';
import type { CallOptions } from './ask.ts';
import { AiServiceError } from './client-error.ts';
import type { CallRecord } from './port.ts';

type Role = ProviderUsage['role'];

/** The role whose model may serve each path. */
const roles = new Map<string, Role>([
  [aiService.extract.path, 'vision'],
  [aiService.embed.path, 'embed'],
  [aiService.rerank.path, 'rerank'],
  ...[aiService.summarize, aiService.answer, aiService.rewrite, aiService.fields].map(({ path }) => [path, 'chat'] as const),
]);

/** What a recorder needs: where it records, and what the service says of its providers. */
interface Recording {
  record: CallRecord;
  readHealth: () => Promise<{ provider: string; chat?: string | undefined; ocr: string }>;
}

/**
 * Makes calls, and has them recorded: a call that a provider may serve is noted before it is made, so that whoever dies meanwhile leaves a
 * call of unknown use, and what was used is stored when the service says so, with a failure too. What the local models do is not recorded.
 */
export function createCallRecorder({ record, readHealth }: Recording) {
  const isRemote = createRoleCheck(readHealth);
  return async <T>(
    path: string,
    { tenant, owner, signal }: CallOptions,
    make: (onUsage: (said: string | undefined) => void) => Promise<T>,
  ) => {
    const role = roles.get(path);
    if (!role) return await make(() => {});
    const call = { ...owner, role, organizationId: tenant ?? null };
    const begun = (await isRemote(role)) ? await record.begin(call) : undefined;
    // A call that is given up by now is not made.
    let used: ProviderUsage | null | undefined = signal?.aborted ? null : undefined;
    try {
      return await make((said) => {
        used = readUsage(said);
      });
    } catch (error) {
      if (error instanceof AiServiceError && error.kind === 'unreachable' && cannotConnect(error.cause)) used = null;
      throw error;
    } finally {
      if (used !== undefined) await record.end(begun, call, used);
    }
  };
}

/** How long what the service said of its providers is believed. */
const believedMs = 60_000;

/** Whether a provider has a role, as the service said last: only the first call waits for what it says, and none while it is silent. */
function createRoleCheck(readHealth: Recording['readHealth']): (role: Role) => Promise<boolean> {
  let remote = new Set<Role>(['rerank']);
  let asked: { at: number; response: Promise<void> } | undefined;
  let isKnown = false;
  const ask = async () => {
    try {
      const { provider, chat, ocr } = await readHealth();
      const found = Object.entries({ embed: provider, chat, vision: ocr, rerank: 'remote' }).filter(([, by]) => by === 'remote');
      remote = new Set(found.map(([role]) => role as Role));
      isKnown = true;
    } catch {
      asked = undefined;
    }
  };
  return async (role) => {
    if (!asked || Date.now() - asked.at >= believedMs) asked = { at: Date.now(), response: ask() };
    if (!isKnown) await asked.response;
    return remote.has(role);
  };
}
