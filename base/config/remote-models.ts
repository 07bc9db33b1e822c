import { z } from 'zod';
import { crossCheck, httpUrl, integer, optionalInteger } from './environment.ts';

/** A model behind an endpoint of the OpenAI protocol. */
export interface RemoteModel {
  /** The base URL with the version segment, without a trailing slash. */
  baseUrl: string;
  /** Undefined if the endpoint needs no key. */
  key: string | undefined;
  model: string;
}

export interface RemoteChatModel extends RemoteModel {
  /** How many tokens of passages the model is given with a question, by an estimate that errs on the high side. */
  context: number;
}

export interface RemoteEmbedModel extends RemoteModel {
  /** The number of dimensions of its vectors; undefined means the model's own. */
  dimensions?: number | undefined;
  /** The size of the chunks that it embeds. */
  chunkCharacters: number;
  /** How many texts a request may have. */
  batch: number;
  /** How long such a request may take, including its wait in the server's queue. */
  seconds: number;
}

/** The models of each role, all at one endpoint or each at its own. Null: local algorithms do that work. */
export interface RemoteModels {
  chat: RemoteChatModel | null;
  embed: RemoteEmbedModel | null;
  /** The model of documents that were indexed before `embed`: it embeds queries of workspaces that still search them. */
  previousEmbed: RemoteEmbedModel | null;
  vision: RemoteModel | null;
  /** Ranks the passages of a search anew. */
  rerank: RemoteModel | null;
}

/** What a model does. */
export type RemoteRole = 'chat' | 'embed' | 'vision' | 'rerank';

/** Longer chunks would make results of searches too large; with much shorter ones a document would have too many. */
const chunkBounds = { min: 200, max: 1_200 };
/** Node's fetch waits at most five minutes for a response. */
const maxEmbedSeconds = 240;

const named = z.strictObject({ model: z.string().trim().min(1, 'is missing').optional() });
const toName = z.strictObject({ model: z.string('is missing').trim().min(1, 'is missing') });
const chat = named.extend({ context: integer(12_000, { min: 500, max: 1_000_000 }) });
const embedParameters = {
  dimensions: optionalInteger({ min: 1, max: 16_000 }),
  chunkCharacters: integer(chunkBounds.max, chunkBounds),
  batch: integer(64, { min: 1, max: 64 }),
  seconds: integer(30, { min: 1, max: maxEmbedSeconds }),
};
const embed = named.extend(embedParameters);

/** The variables of remote models: of all roles, and of each role what differs. */
export const remoteVariables = {
  REMOTE_AI_BASE_URL: httpUrl().optional(),
  REMOTE_AI_KEY: z.string().optional(),
  REMOTE_AI_CHAT_MODEL: z.string().default('gpt-4o-mini'),
  REMOTE_AI_EMBED_MODEL: z.string().default('text-embedding-3-small'),
  REMOTE_AI_VISION_MODEL: z.string().default('gpt-4o-mini'),
  REMOTE_AI_CHAT: role(chat).optional(),
  REMOTE_AI_EMBED: role(embed).optional(),
  REMOTE_AI_PREVIOUS_EMBED: role(toName.extend(embedParameters)).optional(),
  REMOTE_AI_VISION: role(named).optional(),
  REMOTE_AI_RERANK: role(toName).optional(),
};

const remoteEnvironment = z.object(remoteVariables);
type RemoteValues = z.output<typeof remoteEnvironment>;

type Host = Pick<RemoteModel, 'baseUrl' | 'key'>;

interface Role<T> {
  /** Undefined means that of all roles. */
  host: Host | undefined;
  parameters: T;
}

/** A URL with the key before the @ and the parameters in its query, or a query alone, for a model at the endpoint of all roles. */
function role<T extends z.ZodObject>(parameters: T) {
  return z.string().transform((text, context): Role<z.output<T>> => {
    const [address = '', query = ''] = text.split(/\?(.*)/s);
    const host = address === '' ? undefined : readHost(address);
    if (host === null) context.addIssue(hostForm);
    const parsed = parameters.safeParse(Object.fromEntries(new URLSearchParams(query)));
    for (const { code, path, message } of parsed.error?.issues ?? []) {
      // An unknown name may be the rest of a key with a ?.
      const known = `has parameters other than ${Object.keys(parameters.shape).join(', ')}`;
      context.addIssue(code === 'unrecognized_keys' ? known : [...path, message].join(' '));
    }
    return host === null || !parsed.success ? z.NEVER : { host, parameters: parsed.data };
  });
}

const hostForm =
  'must be a URL such as https://KEY@HOST/v1?model=NAME, or its query alone; in a key, :, /, ? and # are %3A, %2F, %3F and %23';

/** Null if it is none, or has more than a key before the @. */
function readHost(address: string): Host | null {
  const url = URL.parse(address);
  const key = url && decode(url.username);
  if (!url || !/^https?:$/.test(url.protocol) || url.password || url.hash || url.pathname.includes('@') || key === null) return null;
  return { baseUrl: `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, ''), key: key || undefined };
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const defaultBaseUrl = 'https://api.openai.com/v1';

/** The models that the variables name. A role's own endpoint needs no key; the key of all roles is sent to no other endpoint. */
export function remoteModelsOf(e: RemoteValues): RemoteModels {
  const common = e.REMOTE_AI_KEY ? { baseUrl: e.REMOTE_AI_BASE_URL ?? defaultBaseUrl, key: e.REMOTE_AI_KEY } : undefined;
  const at = <T extends { model?: string | undefined }>({ host = common, parameters }: Role<T>, model: string) =>
    host ? { ...parameters, ...host, model: parameters.model ?? model } : null;
  const { REMOTE_AI_PREVIOUS_EMBED: previous, REMOTE_AI_RERANK: rerank } = e;
  return {
    chat: at(e.REMOTE_AI_CHAT ?? plain(chat), e.REMOTE_AI_CHAT_MODEL),
    embed: at(e.REMOTE_AI_EMBED ?? plain(embed), e.REMOTE_AI_EMBED_MODEL),
    previousEmbed: previous ? at(previous, previous.parameters.model) : null,
    vision: at(e.REMOTE_AI_VISION ?? plain(named), e.REMOTE_AI_VISION_MODEL),
    rerank: rerank ? at(rerank, rerank.parameters.model) : null,
  };
}

function plain<T extends z.ZodObject>(parameters: T): Role<z.output<T>> {
  return { host: undefined, parameters: parameters.parse({}) };
}

const check = crossCheck<typeof remoteEnvironment>();

/** Checks of the variables of remote models together. */
export const remoteChecks = [
  check(['REMOTE_AI_BASE_URL', 'REMOTE_AI_KEY'], ({ REMOTE_AI_BASE_URL, REMOTE_AI_KEY }) =>
    REMOTE_AI_BASE_URL !== undefined && !REMOTE_AI_KEY
      ? ['REMOTE_AI_KEY: is missing while REMOTE_AI_BASE_URL is set; if the endpoint asks for no key, any text will do']
      : [],
  ),
  ...(['CHAT', 'EMBED', 'PREVIOUS_EMBED', 'VISION', 'RERANK'] as const).map((name) =>
    check(['REMOTE_AI_KEY', `REMOTE_AI_${name}`], (e) => {
      const given = e[`REMOTE_AI_${name}`];
      return given && !given.host && !e.REMOTE_AI_KEY ? [`REMOTE_AI_KEY: is missing while REMOTE_AI_${name} names no endpoint`] : [];
    }),
  ),
  check(['REMOTE_AI_EMBED', 'REMOTE_AI_EMBED_MODEL', 'REMOTE_AI_PREVIOUS_EMBED'], (e) => {
    const { model = e.REMOTE_AI_EMBED_MODEL, chunkCharacters } = (e.REMOTE_AI_EMBED ?? plain(embed)).parameters;
    const previous = e.REMOTE_AI_PREVIOUS_EMBED?.parameters;
    return previous?.model === model && previous.chunkCharacters !== chunkCharacters
      ? ['REMOTE_AI_PREVIOUS_EMBED: chunkCharacters must be that of REMOTE_AI_EMBED while both models are the same']
      : [];
  }),
];
