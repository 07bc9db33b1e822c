import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { type Environment, httpUrl, integer, parseEnvironment } from './environment.ts';

const port = (defaultValue: number) => integer(defaultValue, { min: 1, max: 65_535 });

/** The variables of the embedded stack. */
export const localEnvironment = z.object({
  PORT: port(3000),
  EMBEDDED_PG_PORT: port(54_329),
  EMBEDDED_TEMPORAL_PORT: port(7233),
  EMBEDDED_TEMPORAL_UI_PORT: port(8233),
  AI_PORT: port(8000),
  DATA_DIR: z.string().default('.data'),
  API_URL: httpUrl().optional(),
  DATABASE_URL: z.string().optional(),
  TEMPORAL_ADDRESS: z.string().optional(),
  TEMPORAL_UI_URL: httpUrl().optional(),
  AI_SERVICE_URL: httpUrl().optional(),
  AUTH_SECRET: z.string().optional(),
  SERVICE_TOKEN: z.string().optional(),
});

const testEnvironment = z.object({
  TEST_DATABASE_URL: z.string().optional(),
  TEST_TEMPORAL_ADDRESS: z.string().optional(),
  TEST_AI_URL: httpUrl().optional(),
  TEST_SERVICE_TOKEN: z.string().optional(),
  TEST_RECORD_DIR: z.string().optional(),
});

const toolEnvironment = z.object({
  PATH: z.string().default('/usr/local/bin:/usr/bin:/bin'),
  XDG_CACHE_HOME: z.string().optional(),
});

/** What `npm start` reads from its environment: ports, the directory of all data (absolute), and services to use instead of embedded ones. */
export type LocalConfig = ReturnType<typeof loadLocalConfig>;

/** Reads the configuration of the embedded stack. Throws ConfigurationError naming every problem at once. */
export function loadLocalConfig(env: Environment) {
  const e = parseEnvironment(localEnvironment, env);
  return {
    ports: {
      api: e.PORT,
      postgres: e.EMBEDDED_PG_PORT,
      temporal: e.EMBEDDED_TEMPORAL_PORT,
      temporalUi: e.EMBEDDED_TEMPORAL_UI_PORT,
      ai: e.AI_PORT,
    },
    dataDir: resolve(e.DATA_DIR),
    /** What the environment says goes before what the stack would choose. */
    overrides: definedOnly({ API_URL: e.API_URL, AUTH_SECRET: e.AUTH_SECRET, SERVICE_TOKEN: e.SERVICE_TOKEN }),
    external: {
      databaseUrl: e.DATABASE_URL,
      temporalAddress: e.TEMPORAL_ADDRESS,
      temporalUiUrl: e.TEMPORAL_UI_URL,
      aiUrl: e.AI_SERVICE_URL,
    },
  };
}

/** Where programs are looked up and kept: the directories of PATH, and this project's folder in the user's cache. */
export function loadToolConfig(env: Environment) {
  const e = parseEnvironment(toolEnvironment, env);
  return {
    path: e.PATH.split(':').filter(Boolean),
    cacheDir: resolve(e.XDG_CACHE_HOME ?? resolve(homedir(), '.cache'), 'sheaf'),
  };
}

/** The services that a test run has started for its test files; absent when a test file is run on its own. */
export function loadTestServices(env: Environment) {
  const e = parseEnvironment(testEnvironment, env);
  return {
    databaseUrl: e.TEST_DATABASE_URL,
    temporalAddress: e.TEST_TEMPORAL_ADDRESS,
    aiUrl: e.TEST_AI_URL,
    serviceToken: e.TEST_SERVICE_TOKEN,
    /** Where the test files of a run note what the API answered. */
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
