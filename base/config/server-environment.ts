import { resolve } from 'node:path';
import { z } from 'zod';
import { searchModes } from '../../contract/document-search.ts';
import { jobKinds } from '../../contract/jobs.ts';
import {
  crossCheck,
  environmentName,
  flag,
  httpUrl,
  integer,
  list,
  logLevel,
  milliseconds,
  optionalFlag,
  optionalInteger,
  postgresUrl,
  required,
} from './environment.ts';
import { extraKinds } from './extra-content-types.ts';
import { extraJobs } from './extra-job-kinds.ts';
import { jobTimeVariables } from './job-time.ts';
import { payloadKeys } from './payload-keys.ts';
import { refusePlaceholder } from './placeholder.ts';
import { planLimits } from './plans.ts';
import { storageChecks, storageVariables } from './storage.ts';
import { hostAndPort, temporalChecks, temporalVariables } from './temporal.ts';
import { tracingVariables } from './tracing.ts';
import { webhookVariables } from './webhooks.ts';

/** The variables of the API and the worker. */
export const serverEnvironment = z.object({
  NODE_ENV: environmentName(),
  PORT: integer(3000, { max: 65_535 }),
  HOST: z.string().optional(),
  API_URL: httpUrl().optional(),
  WEB_URL: httpUrl()
    .refine((url) => isOrigin(new URL(url).origin), 'must not have a * in its host')
    .optional(),
  CONSOLE: z
    .string()
    .regex(/^(true|false|\/.*)$/s, 'must be true, false, or the absolute path of a directory')
    .optional(),
  TRUSTED_ORIGINS: list('tauri://localhost,http://tauri.localhost').refine(
    (origins) => origins.every(isOrigin),
    'must be origins as browsers send them, such as https://app.example.com: without a path, a slash at the end or *',
  ),
  TRUST_PROXY: flag(false),
  COOKIE_DOMAIN: z.string().optional(),
  DATABASE_URL: postgresUrl(),
  DATABASE_DIRECT_URL: postgresUrl().optional(),
  DATABASE_POOL_SIZE: integer(16, { min: 4, max: 500 }),
  TEMPORAL_ADDRESS: hostAndPort().default('localhost:7233'),
  ...temporalVariables,
  TEMPORAL_PAYLOAD_KEYS: payloadKeys(),
  TEMPORAL_UI_URL: httpUrl().default('http://localhost:8233'),
  AI_SERVICE_URL: httpUrl().default('http://localhost:8000'),
  SERVICE_TOKEN: z.string().default(''),
  AUTH_SECRET: required().min(16, 'must have at least 16 characters'),
  AUTH_SECRET_PREVIOUS: z.string().default(''),
  REQUIRE_EMAIL_VERIFICATION: optionalFlag(),
  REQUIRE_ADMIN_TWO_FACTOR: flag(false),
  FIRST_ADMIN_EMAIL: z.email({ pattern: z.regexes.html5Email, error: 'must be an email address' }).optional(),
  DATA_DIR: z.string().default('.data'),
  ...storageVariables,
  MAX_UPLOAD_BYTES: integer(26_214_400, { min: 1 }),
  EXTRA_CONTENT_TYPES: extraKinds(),
  STRIPE_SECRET_KEY: z.string().optional(),
  STRIPE_WEBHOOK_SECRET: z.string().optional(),
  STRIPE_PRICE_PRO: list(),
  STRIPE_PRICE_TEAM: list(),
  STRIPE_SEAT_PRICE_TEAM: list(),
  STRIPE_API_BASE: httpUrl().optional(),
  BILLING_DUNNING_DAYS: integer(14, { max: 365 }),
  EMAIL_PROVIDER: z.enum(['smtp', 'mailbox', 'none'], 'must be smtp, mailbox or none').optional(),
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' }).optional(),
  EMAIL_FROM: z.string().default('Sheaf <no-reply@localhost>'),
  CONTACT_EMAIL: z.email({ pattern: z.regexes.html5Email, error: 'must be an email address' }).optional(),
  PROVIDER_A_ISSUER: httpUrl().optional(),
  PROVIDER_A_CLIENT_ID: z.string().optional(),
  PROVIDER_A_CLIENT_SECRET: z.string().optional(),
  PROVIDER_B_ISSUER: httpUrl().optional(),
  PROVIDER_B_CLIENT_ID: z.string().optional(),
  PROVIDER_B_CLIENT_SECRET: z.string().optional(),
  JOB_WAIT_HOURS: integer(72, { min: 1, max: 8_760 }),
  WORKER_ENABLED: flag(true),
  WORKER_CONCURRENCY: integer(2, { min: 1, max: 1_000 }),
  WORKER_EMBED_CALLS: integer(0, { max: 1_000 }),
  WORKER_JOB_KINDS: z
    .string()
    .transform((value) => value.split(',').map((kind) => kind.trim()))
    .pipe(z.array(z.enum(jobKinds, { error: ({ input }) => `there is no kind ${input}` })))
    .optional(),
  WORKER_SHUTDOWN_GRACE_MS: milliseconds(10_000),
  EXTRA_JOB_KINDS: extraJobs(),
  ...jobTimeVariables,
  ...webhookVariables,
  AUDIT_LOG_RETENTION_DAYS: integer(365, { max: 1_000_000 }),
  RATE_LIMIT_PER_MINUTE: integer(300, { min: 1 }),
  SEARCH_LIMIT_PER_MINUTE: integer(30, { min: 1 }),
  QUESTION_LIMIT_PER_MINUTE: integer(10, { min: 1 }),
  ORGANIZATION_REQUESTS_PER_SECOND: integer(1_000, { min: 1 }),
  MAX_ORGANIZATIONS_PER_USER: optionalInteger({ min: 1, max: 1_000_000 }),
  INVITATIONS_PER_DAY: optionalInteger({ min: 1, max: 1_000_000 }),
  MCP_WRITE: flag(false),
  SEARCH_DEFAULT_MODE: z.enum(searchModes, `must be ${searchModes.join(', ')}`).default('semantic'),
  SEARCH_RERANK: flag(false),
  PROVIDER_PRICES: z.string().optional(),
  ANSWER_DRAFTS: z.enum(['off', 'ask', 'chat'], 'must be off, ask or chat').default('off'),
  SHUTDOWN_DELAY_MS: optionalInteger({ max: 300_000 }),
  LIMITER_STORE: z.enum(['memory', 'postgres'], 'must be memory or postgres').optional(),
  METRICS_HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: integer(0, { max: 65_535 }),
  ...tracingVariables,
  LOG_LEVEL: logLevel(),
  PLANS: planLimits(),
});

/** The variables, parsed. */
export type ServerVariables = z.output<typeof serverEnvironment>;

/** The URL of the API: by default that of this machine. */
export function apiUrlOf({ API_URL, PORT }: Pick<ServerVariables, 'API_URL' | 'PORT'>): string {
  return API_URL ?? `http://localhost:${PORT}`;
}

/** The URL of the web application; undefined in production if it is not set, so that no other is trusted. */
export function webUrlOf({ NODE_ENV, WEB_URL }: Pick<ServerVariables, 'NODE_ENV' | 'WEB_URL'>): string | undefined {
  return WEB_URL ?? (NODE_ENV === 'production' ? undefined : 'http://localhost:5173');
}

/** Whether the API serves the console, unless there is another web application, and from where. */
export function consoleOf({ CONSOLE, WEB_URL }: Pick<ServerVariables, 'CONSOLE' | 'WEB_URL'>): { enabled: boolean; directory: string } {
  const directory = CONSOLE?.startsWith('/') ? CONSOLE : resolve('clients/web/dist');
  return { enabled: CONSOLE === undefined ? WEB_URL === undefined : CONSOLE !== 'false', directory };
}

/** The email provider: outside of production mails are stored in files by default. */
export function emailProviderOf(e: Pick<ServerVariables, 'NODE_ENV' | 'EMAIL_PROVIDER' | 'SMTP_URL'>): 'smtp' | 'mailbox' | 'none' {
  return e.EMAIL_PROVIDER ?? (e.SMTP_URL ? 'smtp' : e.NODE_ENV === 'production' ? 'none' : 'mailbox');
}

/** Where limits are counted: in production across all processes of the API by default, since a process does not know of others. */
export function limiterStoreOf({ NODE_ENV, LIMITER_STORE }: Pick<ServerVariables, 'NODE_ENV' | 'LIMITER_STORE'>): 'memory' | 'postgres' {
  return LIMITER_STORE ?? (NODE_ENV === 'production' ? 'postgres' : 'memory');
}

const check = crossCheck<typeof serverEnvironment>();

/** Checks of several variables together. */
export const serverChecks = [
  ...storageChecks,
  ...temporalChecks,
  check(['COOKIE_DOMAIN'], ({ COOKIE_DOMAIN: domain }) =>
    domain === undefined || isHostname(domain) ? [] : ['COOKIE_DOMAIN: must be a bare hostname'],
  ),
  check(['COOKIE_DOMAIN', 'API_URL', 'PORT'], (e) => uncovered(e.COOKIE_DOMAIN, 'API_URL', apiUrlOf(e))),
  check(['COOKIE_DOMAIN', 'WEB_URL', 'NODE_ENV'], (e) => uncovered(e.COOKIE_DOMAIN, 'WEB_URL', webUrlOf(e))),
  ...(['A', 'B'] as const).map((letter) => {
    const siblings = [`PROVIDER_${letter}_ISSUER`, `PROVIDER_${letter}_CLIENT_ID`, `PROVIDER_${letter}_CLIENT_SECRET`] as const;
    return check(siblings, (e) => {
      const absent = siblings.filter((name) => !e[name]);
      return absent.length === siblings.length ? [] : absent.map((name) => `${name}: is missing while its siblings are set`);
    });
  }),
  check(['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'], (e) => {
    const absent = (['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'] as const).filter((name) => !e[name]);
    // With one of them billing would be off, and with it every limit.
    return absent.length === 1 ? [`${absent[0]}: is missing while the other one is set; billing needs both`] : [];
  }),
  check(['STRIPE_PRICE_PRO', 'STRIPE_PRICE_TEAM', 'STRIPE_SEAT_PRICE_TEAM'], (e) => {
    const ofTeam = new Set([...e.STRIPE_PRICE_TEAM, ...e.STRIPE_SEAT_PRICE_TEAM]);
    const both = e.STRIPE_PRICE_PRO.filter((id) => ofTeam.has(id));
    return both.map((id) => `STRIPE_PRICE_PRO: ${id} is a price of team, too`);
  }),
  check(['NODE_ENV', 'AUTH_SECRET'], (e) => (e.NODE_ENV === 'production' ? refusePlaceholder('AUTH_SECRET', e.AUTH_SECRET) : [])),
  check(['NODE_ENV', 'AUTH_SECRET_PREVIOUS'], ({ NODE_ENV, AUTH_SECRET_PREVIOUS: previous }) =>
    NODE_ENV === 'production' && previous ? refusePlaceholder('AUTH_SECRET_PREVIOUS', previous) : [],
  ),
  check(['NODE_ENV', 'SERVICE_TOKEN'], (e) => {
    if (e.NODE_ENV !== 'production') return [];
    return e.SERVICE_TOKEN === '' ? ['SERVICE_TOKEN: must be set in production'] : refusePlaceholder('SERVICE_TOKEN', e.SERVICE_TOKEN);
  }),
  check(['NODE_ENV', 'EMAIL_PROVIDER', 'SMTP_URL'], (e) => {
    if (e.NODE_ENV === 'production') {
      const problems = e.SMTP_URL ? [] : ['SMTP_URL: an email provider must be configured in production'];
      return (e.EMAIL_PROVIDER ?? 'smtp') === 'smtp' ? problems : ['EMAIL_PROVIDER: must be smtp in production', ...problems];
    }
    return e.EMAIL_PROVIDER === 'smtp' && !e.SMTP_URL ? ['SMTP_URL: is missing while EMAIL_PROVIDER is smtp'] : [];
  }),
];

/** Whether a browser could send it as `Origin`. better-auth treats `*` and `?` as patterns, and would trust every matching origin. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  if (!url || !/^[^/]+:\/\/[^/?#*@]+$/.test(text)) return false;
  return url.origin === 'null' || url.origin === text;
}

function isHostname(text: string): boolean {
  return /^[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(text);
}

/** A problem if a cookie of `domain` would not be sent to the host of `url`. */
function uncovered(domain: string | undefined, name: string, url: string | undefined): string[] {
  if (domain === undefined || url === undefined || !isHostname(domain)) return [];
  const host = new URL(url).hostname;
  return host === domain || host.endsWith(`.${domain}`) ? [] : [`COOKIE_DOMAIN: does not cover the host of ${name}`];
}
