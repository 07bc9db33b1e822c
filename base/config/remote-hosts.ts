import { z } from 'zod';
import { httpUrl } from './environment.ts';

/** Where a remote model is: the base URL with the version segment, without a trailing slash. */
export interface RemoteHost {
  baseUrl: string;
  /** Undefined if the endpoint needs no key. */
  key: string | undefined;
}

/** The roles of remote models. */
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

/** The host of a role: its own, which needs no key, or the common one; null without either. The common key is sent to no other host. */
export function hostOf(e: RemoteHosts, role: RemoteRole): RemoteHost | null {
  const [baseUrl, key] = [e[`REMOTE_AI_${role}_BASE_URL`], e[`REMOTE_AI_${role}_KEY`]];
  if (baseUrl !== undefined) return { baseUrl, key };
  return e.REMOTE_AI_KEY ? { baseUrl: e.REMOTE_AI_BASE_URL ?? defaultBaseUrl, key: key ?? e.REMOTE_AI_KEY } : null;
}

/** The problems of a role's host. */
export function problemsOfHost(e: Partial<RemoteHosts>, role: RemoteRole): string[] {
  const [url, key] = [`REMOTE_AI_${role}_BASE_URL`, `REMOTE_AI_${role}_KEY`] as const;
  return e[key] !== undefined && e[url] === undefined && !e.REMOTE_AI_KEY ? [`${url}: is missing while ${key} is set`] : [];
}
