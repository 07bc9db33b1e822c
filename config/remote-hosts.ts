import { z } from 'zod';
import { httpUrl } from './environment.ts';

/** Where a remote model is: the base URL with the version segment, without a trailing slash. */
export interface RemoteHost {
  baseUrl: string;
  key: string;
}

/** What remote models are for. */
export const remoteRoles = ['CHAT', 'EMBED', 'VISION', 'RERANK'] as const;
export type RemoteRole = (typeof remoteRoles)[number];

/** The variables that say where remote models are: for all roles, and for a role that is at another host. */
export const remoteHostVariables = {
  REMOTE_AI_BASE_URL: httpUrl().optional(),
  REMOTE_AI_KEY: z.string().optional(),
  REMOTE_AI_CHAT_BASE_URL: httpUrl().optional(),
  REMOTE_AI_CHAT_KEY: z.string().optional(),
  REMOTE_AI_EMBED_BASE_URL: httpUrl().optional(),
  REMOTE_AI_EMBED_KEY: z.string().optional(),
  REMOTE_AI_VISION_BASE_URL: httpUrl().optional(),
  REMOTE_AI_VISION_KEY: z.string().optional(),
  REMOTE_AI_RERANK_BASE_URL: httpUrl().optional(),
  REMOTE_AI_RERANK_KEY: z.string().optional(),
};

type RemoteHosts = z.output<z.ZodObject<typeof remoteHostVariables>>;

const defaultBaseUrl = 'https://api.openai.com/v1';

/** The host of a role: its own, or the common one. */
export function hostOf(e: RemoteHosts & { REMOTE_AI_KEY: string }, role: RemoteRole): RemoteHost {
  return {
    baseUrl: e[`REMOTE_AI_${role}_BASE_URL`] ?? e.REMOTE_AI_BASE_URL ?? defaultBaseUrl,
    key: e[`REMOTE_AI_${role}_KEY`] ?? e.REMOTE_AI_KEY,
  };
}

/** The problems of a role's own host. The common key is never sent there. */
export function problemsOfHost(e: Partial<RemoteHosts>, role: RemoteRole): string[] {
  const [url, key] = [`REMOTE_AI_${role}_BASE_URL`, `REMOTE_AI_${role}_KEY`] as const;
  if (e[url] === undefined && e[key] === undefined) return [];
  if (!e.REMOTE_AI_KEY) return [`REMOTE_AI_KEY: is missing while ${e[url] === undefined ? key : url} is set`];
  return e[url] !== undefined && e[key] === undefined
    ? [`${key}: is missing while ${url} is set; if the endpoint asks for no key, any text will do`]
    : [];
}
