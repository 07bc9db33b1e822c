import { join } from 'node:path';
import { z } from 'zod';
import { crossCheck, type Environment, environmentName, flag, integer, logLevel, parseEnvironment } from './environment.ts';
import { extraKinds } from './extra-content-types.ts';
import { e5File, type LocalModelName, localModelVariables, usesE5 } from './local-models.ts';
import { refusePlaceholder } from './placeholder.ts';
import { type RemoteModels, remoteChecks, remoteModelsOf, remoteVariables } from './remote-models.ts';
import { type TracingConfig, tracingOf, tracingVariables } from './tracing.ts';

/** Configuration of the internal AI service. */
export interface AiServiceConfig {
  /** Interface to listen on; undefined means all. */
  host: string | undefined;
  /** 0 means any free port. */
  port: number;
  /** Where metrics are served; 0 means nowhere. */
  metrics: { host: string; port: number };
  tracing: TracingConfig;
  /** The shared secret of `X-Service-Token`; null if authentication is disabled. */
  token: string | null;
  /** The secret before the last change, which callers may still send. */
  previousToken: string | undefined;
  maxUploadBytes: number;
  maxTextCharacters: number;
  maxPdfPages: number;
  /** The media types that are read beside those that every deployment reads. */
  extraContentTypes: string[];
  extractTimeoutMs: number;
  ocrTimeoutMs: number;
  /** How many processes read documents, and recognize the text of images. */
  readers: number;
  recognizers: number;
  /** The model that embeds if there is no remote one. The hash is always there for workspaces that were indexed with it. */
  localEmbedModel: LocalModelName;
  /** The weights of the sentence model, if it runs: as the present model, or as the previous one for workspaces that are not switched yet. */
  embedModelFile: string | undefined;
  ocrProvider: 'auto' | 'local' | 'remote' | 'none';
  /** Whether pages of a PDF that have no text are rendered and read by text recognition. */
  readsScannedPdfs: boolean;
  /** The languages that text recognition knows, by the names of their data. */
  ocrLanguages: string[];
  /** The directory of their data; undefined means that of the installed English data. */
  ocrLanguagesDirectory: string | undefined;
  /** The directory of models, among which may be some that find and read lines of text instead of the installed ones. */
  modelsDirectory: string | undefined;
  /** The directories in which Tesseract is looked for. Without it, its WebAssembly build recognizes text. */
  programPath: string[];
  remote: RemoteModels;
  logLevel: string;
}

const mebibyte = 1024 * 1024;

/** Names of language data, separated by commas. */
function languages() {
  return z
    .string()
    .transform((list) => list.split(',').map((name) => name.trim()))
    .pipe(z.array(z.string().regex(/^\w{1,40}$/, 'must be names like eng or chi_sim, separated by commas')))
    .default(['eng']);
}

/** The variables of the AI service. */
export const aiServiceEnvironment = z.object({
  NODE_ENV: environmentName(),
  HOST: z.string().optional(),
  AI_PORT: integer(8000, { max: 65535 }),
  SERVICE_TOKEN: z.string().optional(),
  SERVICE_TOKEN_PREVIOUS: z.string().optional(),
  SERVICE_AUTH_DISABLED: flag(false),
  METRICS_HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: integer(0, { max: 65_535 }),
  MAX_UPLOAD_BYTES: integer(25 * mebibyte, { min: 1, max: 512 * mebibyte }),
  MAX_TEXT_CHARACTERS: integer(200_000, { min: 1 }),
  MAX_PDF_PAGES: integer(500, { min: 1 }),
  EXTRA_CONTENT_TYPES: extraKinds(),
  EXTRACT_TIMEOUT_SECONDS: integer(75, { min: 1, max: 3600 }),
  OCR_TIMEOUT_SECONDS: integer(60, { min: 1, max: 3600 }),
  AI_READERS: integer(2, { min: 1, max: 64 }),
  AI_RECOGNIZERS: integer(1, { min: 1, max: 64 }),
  ...localModelVariables,
  OCR_PROVIDER: z.enum(['auto', 'local', 'remote', 'none'], 'must be auto, local, remote or none').default('auto'),
  OCR_SCANNED_PDF: flag(false),
  OCR_LANGUAGES: languages(),
  OCR_LANGUAGES_DIR: z.string().startsWith('/', 'must be an absolute path').optional(),
  MODELS_DIR: z.string().startsWith('/', 'must be an absolute path').optional(),
  ...remoteVariables,
  ...tracingVariables,
  LOG_LEVEL: logLevel(),
});

const check = crossCheck<typeof aiServiceEnvironment>();

const checks = [
  check(['SERVICE_TOKEN', 'SERVICE_AUTH_DISABLED'], ({ SERVICE_TOKEN, SERVICE_AUTH_DISABLED }) =>
    SERVICE_TOKEN || SERVICE_AUTH_DISABLED
      ? []
      : ['SERVICE_TOKEN: must not be empty (only in development: SERVICE_AUTH_DISABLED=true serves without a token)'],
  ),
  check(['NODE_ENV', 'SERVICE_AUTH_DISABLED'], ({ NODE_ENV, SERVICE_AUTH_DISABLED }) =>
    NODE_ENV === 'production' && SERVICE_AUTH_DISABLED ? ['SERVICE_AUTH_DISABLED: must not be true in production'] : [],
  ),
  check(['NODE_ENV', 'SERVICE_TOKEN'], ({ NODE_ENV, SERVICE_TOKEN }) =>
    NODE_ENV === 'production' && SERVICE_TOKEN ? refusePlaceholder('SERVICE_TOKEN', SERVICE_TOKEN) : [],
  ),
  check(['NODE_ENV', 'SERVICE_TOKEN_PREVIOUS'], ({ NODE_ENV, SERVICE_TOKEN_PREVIOUS }) =>
    NODE_ENV === 'production' && SERVICE_TOKEN_PREVIOUS ? refusePlaceholder('SERVICE_TOKEN_PREVIOUS', SERVICE_TOKEN_PREVIOUS) : [],
  ),
  check(['OCR_SCANNED_PDF', 'OCR_PROVIDER'], ({ OCR_SCANNED_PDF, OCR_PROVIDER }) =>
    OCR_SCANNED_PDF && OCR_PROVIDER === 'none' ? ['OCR_SCANNED_PDF: needs text recognition, but OCR_PROVIDER is none'] : [],
  ),
  check(['LOCAL_EMBED_MODEL', 'MODELS_DIR'], (e) =>
    usesE5(e) && e.MODELS_DIR === undefined ? ['MODELS_DIR: is missing while LOCAL_EMBED_MODEL names e5'] : [],
  ),
  ...remoteChecks,
];

/**
 * Reads the configuration of the AI service. Throws ConfigurationError naming every problem at once; an empty SERVICE_TOKEN
 * is one unless SERVICE_AUTH_DISABLED is true, which production refuses.
 */
export function loadAiServiceConfig(environment: Environment): AiServiceConfig {
  const env = parseEnvironment(aiServiceEnvironment, environment, checks);
  return {
    host: env.HOST,
    port: env.AI_PORT,
    metrics: { host: env.METRICS_HOST, port: env.METRICS_PORT },
    tracing: tracingOf(env),
    token: env.SERVICE_AUTH_DISABLED ? null : (env.SERVICE_TOKEN ?? null),
    previousToken: env.SERVICE_TOKEN_PREVIOUS || undefined,
    maxUploadBytes: env.MAX_UPLOAD_BYTES,
    maxTextCharacters: env.MAX_TEXT_CHARACTERS,
    maxPdfPages: env.MAX_PDF_PAGES,
    extraContentTypes: env.EXTRA_CONTENT_TYPES,
    extractTimeoutMs: env.EXTRACT_TIMEOUT_SECONDS * 1000,
    ocrTimeoutMs: env.OCR_TIMEOUT_SECONDS * 1000,
    readers: env.AI_READERS,
    recognizers: env.AI_RECOGNIZERS,
    localEmbedModel: env.LOCAL_EMBED_MODEL[0],
    embedModelFile: usesE5(env) && env.MODELS_DIR !== undefined ? join(env.MODELS_DIR, e5File) : undefined,
    ocrProvider: env.OCR_PROVIDER,
    readsScannedPdfs: env.OCR_SCANNED_PDF,
    ocrLanguages: env.OCR_LANGUAGES,
    ocrLanguagesDirectory: env.OCR_LANGUAGES_DIR,
    modelsDirectory: env.MODELS_DIR,
    // PATH belongs to the system, so it is not in the list of variables.
    programPath: (environment.PATH ?? '').split(':').filter((path) => path.startsWith('/')),
    remote: remoteModelsOf(env),
    logLevel: env.LOG_LEVEL,
  };
}
