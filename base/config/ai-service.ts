import { z } from 'zod';
import {
  crossCheck,
  type Environment,
  environmentName,
  flag,
  integer,
  logLevel,
  optionalInteger,
  parseEnvironment,
} from './environment.ts';
import { extraKinds } from './extra-content-types.ts';
import { type LocalModelName, localModelVariables, usesMinilm } from './local-models.ts';
import { refusePlaceholder } from './placeholder.ts';
import { hostOf, problemsOfHost, type RemoteHost, remoteHostVariables, remoteRoles } from './remote-hosts.ts';
import { type TracingConfig, tracingOf, tracingVariables } from './tracing.ts';

/**
 * Remote models: at any endpoint with the OpenAI protocol (`/chat/completions`, `/embeddings`), each role at its own or all at one. Local
 * algorithms do the work of a role without a host.
 */
export interface RemoteModelConfig {
  chat: RemoteHost | null;
  embed: RemoteHost | null;
  vision: RemoteHost | null;
  rerank: RemoteHost | null;
  chatModel: string;
  embedModel: string;
  visionModel: string;
  /** The model that ranks the passages of a search anew; undefined without one. */
  rerankModel: string | undefined;
  /** How many tokens of passages the chat model is given with a question, by an estimate that errs on the high side. */
  answerTokens: number;
  /** The model of documents that were indexed before `embedModel`: it embeds queries of workspaces that still search them. */
  previousEmbedModel: string | undefined;
  /** The number of dimensions of either model's vectors; undefined means the model's own. */
  embedDimensions: number | undefined;
  previousEmbedDimensions: number | undefined;
  /** The size of the chunks that each of the two models embeds. */
  chunkCharacters: number;
  previousChunkCharacters: number;
  /** How many texts a request may have. */
  embedBatch: number;
  /** How long such a request may take, including its wait in the server's queue. */
  embedTimeoutMs: number;
}

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
  /** Whether the sentence model runs: as the present model, or as the previous one for workspaces that are not switched yet. */
  usesMinilm: boolean;
  ocrProvider: 'auto' | 'local' | 'remote' | 'none';
  /** Whether pages of a PDF that have no text are rendered and read by text recognition. */
  readsScannedPdfs: boolean;
  /** How many pages of one PDF are read so, and how long that may take. */
  maxScannedPages: number;
  scannedPdfTimeoutMs: number;
  /** The languages that text recognition knows, by the names of their data. */
  ocrLanguages: string[];
  /** The directory of their data; undefined means that of the installed English data. */
  ocrLanguagesDirectory: string | undefined;
  /** The directory of the models that find and read lines of text; undefined means the installed ones. */
  ocrModelsDirectory: string | undefined;
  /** The directories in which Tesseract is looked for. Without it, its WebAssembly build recognizes text. */
  programPath: string[];
  /** Null if no role has a host, so that all is done locally. */
  remote: RemoteModelConfig | null;
  logLevel: string;
}

const mebibyte = 1024 * 1024;
/** Node's fetch waits at most five minutes for a response. */
const maxEmbedSeconds = 240;

/** Names of language data, separated by commas. */
function languages() {
  return z
    .string()
    .transform((list) => list.split(',').map((name) => name.trim()))
    .pipe(z.array(z.string().regex(/^\w{1,40}$/, 'must be names like eng or chi_sim, separated by commas')))
    .default(['eng']);
}

/** Longer chunks would make results of searches too large. */
const maxChunkCharacters = 1_200;

/** With much shorter chunks a document would have too many. */
const chunkBounds = { min: 200, max: maxChunkCharacters };

/** The variables of the AI service. */
export const aiServiceEnvironment = z.object({
  NODE_ENV: environmentName(),
  AI_HOST: z.string().optional(),
  AI_PORT: integer(8000, { max: 65535 }),
  SERVICE_TOKEN: z.string().optional(),
  SERVICE_AUTH_DISABLED: flag(false),
  METRICS_HOST: z.string().default('127.0.0.1'),
  AI_METRICS_PORT: integer(0, { max: 65_535 }),
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
  OCR_SCANNED_PDF_PAGES: integer(20, { min: 1 }),
  OCR_SCANNED_PDF_SECONDS: integer(100, { min: 1, max: 36_000 }),
  OCR_LANGUAGES: languages(),
  OCR_LANGUAGES_DIR: z.string().startsWith('/', 'must be an absolute path').optional(),
  OCR_MODELS_DIR: z.string().startsWith('/', 'must be an absolute path').optional(),
  ...remoteHostVariables,
  REMOTE_AI_CHAT_MODEL: z.string().default('gpt-4o-mini'),
  REMOTE_AI_EMBED_MODEL: z.string().default('text-embedding-3-small'),
  REMOTE_AI_VISION_MODEL: z.string().default('gpt-4o-mini'),
  REMOTE_AI_RERANK_MODEL: z.string().optional(),
  REMOTE_AI_ANSWER_CONTEXT: integer(12_000, { min: 500, max: 1_000_000 }),
  REMOTE_AI_PREVIOUS_EMBED_MODEL: z.string().optional(),
  REMOTE_AI_EMBED_DIMENSIONS: integer(0, { max: 16_000 }),
  REMOTE_AI_PREVIOUS_EMBED_DIMENSIONS: integer(0, { max: 16_000 }),
  REMOTE_AI_CHUNK_CHARACTERS: integer(maxChunkCharacters, chunkBounds),
  REMOTE_AI_PREVIOUS_CHUNK_CHARACTERS: optionalInteger(chunkBounds),
  REMOTE_AI_EMBED_BATCH: integer(64, { min: 1, max: 64 }),
  REMOTE_AI_EMBED_SECONDS: integer(30, { min: 1, max: maxEmbedSeconds }),
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
  check(['OCR_SCANNED_PDF', 'OCR_PROVIDER'], ({ OCR_SCANNED_PDF, OCR_PROVIDER }) =>
    OCR_SCANNED_PDF && OCR_PROVIDER === 'none' ? ['OCR_SCANNED_PDF: needs text recognition, but OCR_PROVIDER is none'] : [],
  ),
  check(['OCR_PROVIDER', 'REMOTE_AI_KEY', 'REMOTE_AI_VISION_BASE_URL'], (e) =>
    e.OCR_PROVIDER === 'remote' && !hostOf(e, 'VISION') ? ['REMOTE_AI_KEY: is missing while OCR_PROVIDER is remote'] : [],
  ),
  check(['REMOTE_AI_BASE_URL', 'REMOTE_AI_KEY'], ({ REMOTE_AI_BASE_URL, REMOTE_AI_KEY }) =>
    REMOTE_AI_BASE_URL !== undefined && !REMOTE_AI_KEY
      ? ['REMOTE_AI_KEY: is missing while REMOTE_AI_BASE_URL is set; if the endpoint asks for no key, any text will do']
      : [],
  ),
  check(['REMOTE_AI_RERANK_MODEL', 'REMOTE_AI_KEY', 'REMOTE_AI_RERANK_BASE_URL'], (e) =>
    e.REMOTE_AI_RERANK_MODEL && !hostOf(e, 'RERANK') ? ['REMOTE_AI_KEY: is missing while REMOTE_AI_RERANK_MODEL is set'] : [],
  ),
  ...remoteRoles.map((role) =>
    check(['REMOTE_AI_KEY', `REMOTE_AI_${role}_BASE_URL`, `REMOTE_AI_${role}_KEY`], (e) => problemsOfHost(e, role)),
  ),
  check(['REMOTE_AI_PREVIOUS_EMBED_MODEL', 'REMOTE_AI_PREVIOUS_EMBED_DIMENSIONS'], (e) =>
    e.REMOTE_AI_PREVIOUS_EMBED_DIMENSIONS > 0 && !e.REMOTE_AI_PREVIOUS_EMBED_MODEL
      ? ['REMOTE_AI_PREVIOUS_EMBED_MODEL: is missing while REMOTE_AI_PREVIOUS_EMBED_DIMENSIONS is set']
      : [],
  ),
  check(['REMOTE_AI_PREVIOUS_EMBED_MODEL', 'REMOTE_AI_PREVIOUS_CHUNK_CHARACTERS'], (e) =>
    e.REMOTE_AI_PREVIOUS_CHUNK_CHARACTERS !== undefined && !e.REMOTE_AI_PREVIOUS_EMBED_MODEL
      ? ['REMOTE_AI_PREVIOUS_EMBED_MODEL: is missing while REMOTE_AI_PREVIOUS_CHUNK_CHARACTERS is set']
      : [],
  ),
  check(
    ['REMOTE_AI_EMBED_MODEL', 'REMOTE_AI_PREVIOUS_EMBED_MODEL', 'REMOTE_AI_CHUNK_CHARACTERS', 'REMOTE_AI_PREVIOUS_CHUNK_CHARACTERS'],
    (e) =>
      e.REMOTE_AI_EMBED_MODEL === e.REMOTE_AI_PREVIOUS_EMBED_MODEL &&
      (e.REMOTE_AI_PREVIOUS_CHUNK_CHARACTERS ?? e.REMOTE_AI_CHUNK_CHARACTERS) !== e.REMOTE_AI_CHUNK_CHARACTERS
        ? ['REMOTE_AI_PREVIOUS_CHUNK_CHARACTERS: must be REMOTE_AI_CHUNK_CHARACTERS while both models are the same']
        : [],
  ),
];

/**
 * Reads the configuration of the AI service. Throws ConfigurationError naming every problem at once; an empty SERVICE_TOKEN
 * is one unless SERVICE_AUTH_DISABLED is true, which production refuses.
 */
export function loadAiServiceConfig(environment: Environment): AiServiceConfig {
  const env = parseEnvironment(aiServiceEnvironment, environment, checks);
  return {
    host: env.AI_HOST,
    port: env.AI_PORT,
    metrics: { host: env.METRICS_HOST, port: env.AI_METRICS_PORT },
    tracing: tracingOf(env),
    token: env.SERVICE_AUTH_DISABLED ? null : (env.SERVICE_TOKEN ?? null),
    maxUploadBytes: env.MAX_UPLOAD_BYTES,
    maxTextCharacters: env.MAX_TEXT_CHARACTERS,
    maxPdfPages: env.MAX_PDF_PAGES,
    extraContentTypes: env.EXTRA_CONTENT_TYPES,
    extractTimeoutMs: env.EXTRACT_TIMEOUT_SECONDS * 1000,
    ocrTimeoutMs: env.OCR_TIMEOUT_SECONDS * 1000,
    readers: env.AI_READERS,
    recognizers: env.AI_RECOGNIZERS,
    localEmbedModel: env.LOCAL_EMBED_MODEL,
    usesMinilm: usesMinilm(env),
    ocrProvider: env.OCR_PROVIDER,
    readsScannedPdfs: env.OCR_SCANNED_PDF,
    maxScannedPages: env.OCR_SCANNED_PDF_PAGES,
    scannedPdfTimeoutMs: env.OCR_SCANNED_PDF_SECONDS * 1000,
    ocrLanguages: env.OCR_LANGUAGES,
    ocrLanguagesDirectory: env.OCR_LANGUAGES_DIR,
    ocrModelsDirectory: env.OCR_MODELS_DIR,
    // PATH belongs to the system, so it is not in the list of variables.
    programPath: (environment.PATH ?? '').split(':').filter((path) => path.startsWith('/')),
    remote: remoteRoles.some((role) => hostOf(env, role))
      ? {
          chat: hostOf(env, 'CHAT'),
          embed: hostOf(env, 'EMBED'),
          vision: hostOf(env, 'VISION'),
          rerank: hostOf(env, 'RERANK'),
          chatModel: env.REMOTE_AI_CHAT_MODEL,
          embedModel: env.REMOTE_AI_EMBED_MODEL,
          visionModel: env.REMOTE_AI_VISION_MODEL,
          rerankModel: env.REMOTE_AI_RERANK_MODEL,
          answerTokens: env.REMOTE_AI_ANSWER_CONTEXT,
          previousEmbedModel: env.REMOTE_AI_PREVIOUS_EMBED_MODEL || undefined,
          embedDimensions: env.REMOTE_AI_EMBED_DIMENSIONS || undefined,
          previousEmbedDimensions: env.REMOTE_AI_PREVIOUS_EMBED_DIMENSIONS || undefined,
          chunkCharacters: env.REMOTE_AI_CHUNK_CHARACTERS,
          previousChunkCharacters: env.REMOTE_AI_PREVIOUS_CHUNK_CHARACTERS ?? maxChunkCharacters,
          embedBatch: env.REMOTE_AI_EMBED_BATCH,
          embedTimeoutMs: env.REMOTE_AI_EMBED_SECONDS * 1000,
        }
      : null,
    logLevel: env.LOG_LEVEL,
  };
}
