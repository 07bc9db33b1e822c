import { resolve } from 'node:path';
import { z } from 'zod';
import { type Environment, httpUrl, parseEnvironment, postgresUrl } from './environment.ts';
import { jobTimeoutMsOf, jobTimeVariables } from './job-time.ts';
import { payloadKeys } from './payload-keys.ts';
import { storageChecks, storageVariables, storeOf } from './storage.ts';
import { hostAndPort, temporalChecks, temporalPort, temporalUiOffset, temporalVariables } from './temporal.ts';

/** The variables of the operator's commands. */
export const opsEnvironment = z.object({
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: postgresUrl().optional(),
  DATABASE_DIRECT_URL: postgresUrl().optional(),
  EMBEDDED_TEMPORAL_PORT: temporalPort(),
  TEMPORAL_ADDRESS: hostAndPort().optional(),
  ...temporalVariables,
  TEMPORAL_PAYLOAD_KEYS: payloadKeys(),
  TEMPORAL_CODEC_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  TEMPORAL_UI_URL: httpUrl().optional(),
  STRIPE_SECRET_KEY: z.string().optional(),
  STRIPE_WEBHOOK_SECRET: z.string().optional(),
  ...storageVariables,
  ...jobTimeVariables,
});

/** The configuration of the operator's commands: the addresses of the deployment, or the data directory of the embedded one. */
export type OpsConfig = ReturnType<typeof loadOpsConfig>;

/** Reads the configuration of the operator's commands. Throws ConfigurationError naming every problem at once. */
export function loadOpsConfig(env: Environment) {
  // Without an address they lead to the embedded one, which reads none of them.
  const checks = env.TEMPORAL_ADDRESS?.trim() ? [...storageChecks, ...temporalChecks] : storageChecks;
  const e = parseEnvironment(opsEnvironment, env, checks);
  return {
    /** The absolute path. */
    dataDir: resolve(e.DATA_DIR),
    /** Undefined for the embedded one, whatever the direct URL says. */
    databaseUrl: e.DATABASE_URL && (e.DATABASE_DIRECT_URL ?? e.DATABASE_URL),
    temporal: {
      address: e.TEMPORAL_ADDRESS ?? `127.0.0.1:${e.EMBEDDED_TEMPORAL_PORT}`,
      namespace: e.TEMPORAL_NAMESPACE,
      ...(e.TEMPORAL_ADDRESS === undefined ? { apiKey: undefined, tls: { ca: undefined, cert: undefined, key: undefined } } : accessOf(e)),
      payloadKeys: e.TEMPORAL_PAYLOAD_KEYS,
      codecToken: e.TEMPORAL_CODEC_TOKEN,
      uiUrl: e.TEMPORAL_UI_URL ?? `http://localhost:${e.EMBEDDED_TEMPORAL_PORT + temporalUiOffset}`,
    },
    /** Where stored documents are: a bucket, or files below `dataDir` if there is none. */
    store: storeOf(e),
    billing: { enabled: Boolean(e.STRIPE_SECRET_KEY && e.STRIPE_WEBHOOK_SECRET) },
    /** The names of flags that npm took for its own, because no `--` stood before them. */
    flagsOfNpm: findFlagsOfNpm(env),
    jobs: { timeoutMs: jobTimeoutMsOf(e) },
  };
}

const npmPrefix = 'npm_config_';

/** npm passes each of its flags to scripts as a variable: `npm_config_dry_run` for `--dry-run`. */
function findFlagsOfNpm(env: Environment): string[] {
  const set = Object.entries(env).filter(
    ([name, value]) => name.startsWith(npmPrefix) && value !== undefined && !['', 'false'].includes(value),
  );
  return set.map(([name]) => name.slice(npmPrefix.length).replaceAll('_', '-'));
}

function accessOf(e: z.output<typeof opsEnvironment>) {
  return { apiKey: e.TEMPORAL_API_KEY, tls: { ca: e.TEMPORAL_TLS_CA, cert: e.TEMPORAL_TLS_CERT, key: e.TEMPORAL_TLS_KEY } };
}
