import { contentTypes } from '../../contract/content-types.ts';
import { contract, version } from '../../contract/index.ts';
import { usualJobKinds } from '../../contract/jobs.ts';
import { resolveFlags } from '../../domain/flags/flag.ts';
import type { ApiDeps } from '../deps.ts';
import { procedure } from '../procedure.ts';

export function systemProcedures(deps: ApiDeps) {
  return {
    health: procedure(contract.system.health, async () => ({ status: 'ok' as const, version, time: new Date().toISOString() })),
    jobKinds: procedure(contract.system.jobKinds, async () => ({
      jobKinds: [...usualJobKinds, ...deps.config.extraJobKinds],
      contentTypes: [...contentTypes, ...deps.config.extraContentTypes],
    })),
    authConfig: procedure(contract.system.authConfig, async () => ({
      socialProviders: deps.config.providers.map(({ id }) => id),
      requireEmailVerification: deps.config.requireEmailVerification,
    })),
    flags: procedure(contract.system.flags, async ({ input, authorize }) => {
      if (input.organizationId !== undefined) await authorize(input.organizationId);
      return resolveFlags(deps.db, input.organizationId);
    }),
  };
}
