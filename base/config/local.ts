import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { loadAiServiceConfig } from './ai-service.ts';
import { type Environment, findProblems, flag, httpUrl, integer, parseEnvironment, postgresUrl } from './environment.ts';
import { changeVariables, readVariable } from './secret-files.ts';
import { loadServerConfig } from './server.ts';
import { consoleOf, serverEnvironment } from './server-environment.ts';
import { storageVariables } from './storage.ts';
import { hostAndPort, temporalPort, temporalUiOffset } from './temporal.ts';

const port = (defaultValue: number) => integer(defaultValue, { min: 1, max: 65_535 });

/** The variables of the embedded stack. */
export const localEnvironment = z.object({
  PORT: port(3000),
  HOST: z.string().optional(),
  EMBEDDED_PG_PORT: port(54_329),
  EMBEDDED_TEMPORAL_PORT: temporalPort(),
  AI_PORT: port(8000),
  METRICS_PORT: integer(0, { max: 65_534 }),
  DATA_DIR: z.string().default('.data'),
  API_URL: httpUrl().optional(),
  DATABASE_URL: postgresUrl().optional(),
  TEMPORAL_ADDRESS: hostAndPort().optional(),
  TEMPORAL_NAMESPACE: z.string().default('default'),
  TEMPORAL_UI_URL: httpUrl().optional(),
  AI_SERVICE_URL: httpUrl().optional(),
  AUTH_SECRET: z.string().optional(),
  SERVICE_TOKEN: z.string().optional(),
  WORKER_ENABLED: flag(true),
});

/** Variables that belong to an external service, by the variable that names it; an embedded one ignores them. */
const ofExternal = {
  DATABASE_URL: ['DATABASE_DIRECT_URL'],
  TEMPORAL_ADDRESS: ['TEMPORAL_API_KEY', 'TEMPORAL_TLS_CA', 'TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY'],
};

/**
 * Variables of services that are never embedded, and the keys of payloads. Keys that were inherited by chance would encrypt what nobody
 * can read once they are lost.
 */
const ofRemote = [
  ...Object.keys(storageVariables),
  ...['STORAGE_SECRET_ACCESS_KEY_FILE', 'EMAIL_PROVIDER', 'SMTP_URL', 'CONTACT_EMAIL'],
  ...['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_API_BASE'],
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'TEMPORAL_PAYLOAD_KEYS',
];

/**
 * Blanks of these variables. The API and the worker inherit the environment of the process that starts them, and would reach a database, a
 * Temporal, a bucket, a mail server, a Stripe account or a collector that the stack does not know of. They must be set explicitly.
 */
export const nothingOutside: Environment = changeVariables(
  {},
  Object.fromEntries([...Object.values(ofExternal).flat(), ...ofRemote].map((name) => [name, ''])),
);

const testEnvironment = z.object({
  TEST_DATABASE_URL: z.string().optional(),
  TEST_TEMPORAL_ADDRESS: z.string().optional(),
  TEST_AI_URL: httpUrl().optional(),
  TEST_SERVICE_TOKEN: z.string().optional(),
  TEST_POOLER_ADDRESS: z.string().optional(),
  TEST_RECORD_DIR: z.string().optional(),
});

const toolEnvironment = z.object({
  PATH: z.string().default('/usr/local/bin:/usr/bin:/bin'),
  XDG_CACHE_HOME: z.string().optional(),
});

/** The configuration of `npm start`: ports, the directory of all data (absolute), and external services instead of embedded ones. */
export type LocalConfig = ReturnType<typeof loadLocalConfig>;

/** Reads the configuration of the embedded stack. Throws ConfigurationError with every problem at once, also those of the programs. */
export function loadLocalConfig(env: Environment) {
  const programProblems = findProgramProblems(env);
  const e = parseEnvironment(localEnvironment, env, [], programProblems);
  return {
    ports: {
      api: e.PORT,
      postgres: e.EMBEDDED_PG_PORT,
      temporal: e.EMBEDDED_TEMPORAL_PORT,
      temporalUi: e.EMBEDDED_TEMPORAL_PORT + temporalUiOffset,
      ai: e.AI_PORT,
      /** Of metrics; 0 means none. */
      apiMetrics: e.METRICS_PORT,
      aiMetrics: e.METRICS_PORT && e.METRICS_PORT + 1,
    },
    dataDir: resolve(e.DATA_DIR),
    /** Variables that are set override the choices of the stack. */
    overrides: definedOnly({
      HOST: e.HOST,
      API_URL: e.API_URL,
      AUTH_SECRET: e.AUTH_SECRET,
      SERVICE_TOKEN: e.SERVICE_TOKEN,
      TEMPORAL_NAMESPACE: e.TEMPORAL_NAMESPACE,
      WORKER_ENABLED: String(e.WORKER_ENABLED),
      ...outsideOf(env),
    }),
    external: {
      databaseUrl: e.DATABASE_URL,
      temporalAddress: e.TEMPORAL_ADDRESS,
      temporalUiUrl: e.TEMPORAL_UI_URL,
      aiUrl: e.AI_SERVICE_URL,
    },
    /** Problems for which the API or the AI service would refuse to start, one sentence each, reported before they start. */
    programProblems,
  };
}

/** The problems of the API and the AI service, with generated values for the variables that the stack sets itself. */
function findProgramProblems(env: Environment): string[] {
  const generated = '0123456789abcdef'.repeat(4);
  const made = {
    AUTH_SECRET: env.AUTH_SECRET?.trim() ? env.AUTH_SECRET : generated,
    SERVICE_TOKEN: env.SERVICE_TOKEN?.trim() ? env.SERVICE_TOKEN : generated,
    // The start brings it.
    MODELS_DIR: env.MODELS_DIR?.trim() ? env.MODELS_DIR : '/models',
  };
  const unused = Object.entries(ofExternal).flatMap(([address, names]) => (isGiven(env, address) ? [] : names));
  const blanks = Object.fromEntries(unused.map((name) => [name, '']));
  const complete = { ...changeVariables(env, blanks), DATABASE_URL: 'postgres://embedded', ...made };
  return [
    ...findProblems(() => loadServerConfig(complete)),
    ...(env.AI_SERVICE_URL?.trim() ? [] : findProblems(() => loadAiServiceConfig(complete))),
  ];
}

/** Whether a variable has a value, here or in a file. */
function isGiven(env: Environment, name: string): boolean {
  return Boolean(env[name]?.trim() || env[`${name}_FILE`]?.trim());
}

/** The variables of services that the caller wants to use instead of embedded ones. */
function outsideOf(env: Environment): Environment {
  const external = Object.entries(ofExternal).flatMap(([address, names]) => (isGiven(env, address) ? names : []));
  return Object.fromEntries([...external, ...ofRemote].map((name) => [name, readIfPossible(env, name)]));
}

/** The value of a variable. If its file cannot be read, there is none: the programs report that problem. */
function readIfPossible(env: Environment, name: string): string | undefined {
  try {
    return readVariable(env, name);
  } catch {
    return undefined;
  }
}

/** Where programs are looked up and stored: the directories of PATH, and this project's directory in the user's cache. */
export function loadToolConfig(env: Environment) {
  const e = parseEnvironment(toolEnvironment, env);
  return {
    path: e.PATH.split(':').filter(Boolean),
    cacheDir: resolve(e.XDG_CACHE_HOME ?? resolve(homedir(), '.cache'), 'sheaf'),
  };
}

const consoleEnvironment = serverEnvironment.pick({ CONSOLE: true, WEB_URL: true });

/** Whether an API with these variables serves the console from a directory that they do not name. */
export function servesOwnConsole(env: Environment): boolean {
  const e = parseEnvironment(consoleEnvironment, env);
  return consoleOf(e).enabled && !e.CONSOLE?.startsWith('/');
}

const stopEnvironment = serverEnvironment.pick({ WORKER_SHUTDOWN_GRACE_MS: true, SHUTDOWN_DELAY_MS: true });

/** How long the API or a worker with these variables may take to stop, in milliseconds: what they wait for, and then close. */
export function loadStopLimitMs(env: Environment): number {
  const { WORKER_SHUTDOWN_GRACE_MS: graceMs, SHUTDOWN_DELAY_MS: delayMs = 0 } = parseEnvironment(stopEnvironment, env);
  return Math.max(15_000, graceMs + 5_000, delayMs + 10_000);
}

/** The services that a test run has started for its test files; absent if a test file is run on its own. */
export function loadTestServices(env: Environment) {
  const e = parseEnvironment(testEnvironment, env);
  return {
    databaseUrl: e.TEST_DATABASE_URL,
    temporalAddress: e.TEST_TEMPORAL_ADDRESS,
    aiUrl: e.TEST_AI_URL,
    serviceToken: e.TEST_SERVICE_TOKEN,
    /** The host and port of a pooler between the API and Postgres; absent in most runs. */
    poolerAddress: e.TEST_POOLER_ADDRESS,
    /** Where the test files of a run record the API's responses. */
    recordDir: e.TEST_RECORD_DIR,
  };
}

/** The environment of this process, for children to inherit. */
export function inheritedEnvironment(): Environment {
  return { ...process.env };
}

function definedOnly(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}
