import type { SocialProvider } from '../../contract/system.ts';
import { type Environment, parseEnvironment } from './environment.ts';
import { jobTimeoutMsOf } from './job-time.ts';
import { readPrices } from './prices.ts';
import {
  apiUrlOf,
  consoleOf,
  emailProviderOf,
  limiterStoreOf,
  type ServerVariables,
  serverChecks,
  serverEnvironment,
  webUrlOf,
} from './server-environment.ts';
import { storeOf } from './storage.ts';
import { times } from './times.ts';
import { tracingOf } from './tracing.ts';

export interface ProviderConfig {
  id: SocialProvider;
  issuer: string;
  clientId: string;
  clientSecret: string;
}

/** The configuration of the API and the worker, which is parsed once and passed in. */
export type ServerConfig = ReturnType<typeof loadServerConfig>;

/**
 * Reads the configuration of the API and the worker. Throws ConfigurationError naming every problem at once, so that a wrong
 * deployment fails at boot and not at its first request.
 */
export function loadServerConfig(env: Environment) {
  const e = parseEnvironment(serverEnvironment, env, serverChecks);
  const production = e.NODE_ENV === 'production';
  const apiUrl = apiUrlOf(e);
  return {
    environment: e.NODE_ENV,
    production,
    port: e.PORT,
    host: e.HOST,
    apiUrl,
    /** The base of links in mails: the web application if its address is set, else the API, which has the console or its own pages. */
    webUrl: e.WEB_URL ?? apiUrl,
    /** The web application that the API serves itself, and where its build is. */
    console: consoleOf(e),
    trustedOrigins: trustedOriginsOf(e, webUrlOf(e)),
    trustProxy: e.TRUST_PROXY,
    cookieDomain: e.COOKIE_DOMAIN,
    database: databaseOf(e),
    temporal: temporalOf(e),
    ai: { url: e.AI_SERVICE_URL, token: e.SERVICE_TOKEN },
    authSecret: e.AUTH_SECRET,
    previousAuthSecret: e.AUTH_SECRET_PREVIOUS || undefined,
    requireEmailVerification: e.REQUIRE_EMAIL_VERIFICATION ?? production,
    firstAdmin: firstAdminOf(e),
    requireAdminTwoFactor: e.REQUIRE_ADMIN_TWO_FACTOR,
    dataDir: e.DATA_DIR,
    storage: { ...storeOf(e), maxUploadBytes: e.MAX_UPLOAD_BYTES },
    /** The media types that may be uploaded beside those that every deployment takes. */
    extraContentTypes: e.EXTRA_CONTENT_TYPES,
    /** The kinds of jobs that may be created beside those that every deployment has. */
    extraJobKinds: e.EXTRA_JOB_KINDS,
    uploads: uploadsOf(e),
    billing: billingOf(e),
    plans: e.PLANS,
    email: {
      provider: emailProviderOf(e),
      smtpUrl: e.SMTP_URL,
      from: e.EMAIL_FROM,
      /** The deployment's name, as mails and authenticators show it: the name of the sender. */
      senderName: senderNameOf(e),
      contactAddress: e.CONTACT_EMAIL,
    },
    providers: [provider(e, 'A'), provider(e, 'B')].filter((p) => p !== undefined),
    worker: workerOf(e),
    jobs: {
      timeoutMs: jobTimeoutMsOf(e),
      retryDelaysMs: times.jobRetryDelays,
      outages: {
        probeDelaysMs: times.outageProbes,
        slotMs: times.outageSlot,
        longestWaitMs: e.JOB_WAIT_HOURS * 3_600_000,
        leaseMs: jobTimeoutMsOf(e),
      },
    },
    webhooks: {
      enabled: e.WEBHOOKS_ENABLED,
      allowedNetworks: e.WEBHOOKS_ALLOWED_NETWORKS,
      timeoutMs: times.webhookRequest,
      retryDelaysMs: times.webhookRetryDelays,
    },
    auditRetentionDays: e.AUDIT_LOG_RETENTION_DAYS,
    limits: {
      requestsPerMinute: e.RATE_LIMIT_PER_MINUTE,
      searchesPerMinute: e.SEARCH_LIMIT_PER_MINUTE,
      questionsPerMinute: e.QUESTION_LIMIT_PER_MINUTE,
      /** Of one organization, in each process. */
      requestsPerSecond: e.ORGANIZATION_REQUESTS_PER_SECOND,
      store: limiterStoreOf(e),
    },
    signUp: signUpOf(e),
    /** Whether the tools of `/mcp` include those that change something. */
    mcpWrites: e.MCP_WRITE,
    /** What providers charge; null: it is unknown. */
    prices: e.PROVIDER_PRICES ? readPrices(e.PROVIDER_PRICES) : null,
    /** The mode of a search that names none. */
    searches: { defaultMode: e.SEARCH_DEFAULT_MODE, reranks: e.SEARCH_RERANK },
    answers: { drafts: e.ANSWER_DRAFTS },
    bodyWindowMs: times.bodyWindow,
    /** How long requests are still served after the process reports that it is not ready, until load balancers have noticed. */
    shutdownDelayMs: e.SHUTDOWN_DELAY_MS ?? (production ? 5_000 : 0),
    deletionWaitMs: times.deletionWait,
    databaseWaitMs: times.databaseWait,
    streams: { recheckMs: times.streamRecheck, lifetimeMs: times.streamLifetime },
    metrics: { host: e.METRICS_HOST, port: e.METRICS_PORT },
    tracing: tracingOf(e),
    logLevel: e.LOG_LEVEL,
  };
}

function trustedOriginsOf(e: ServerVariables, webUrl: string | undefined): string[] {
  return [...e.TRUSTED_ORIGINS, ...(webUrl === undefined ? [] : [new URL(webUrl).origin])];
}

/** Who becomes the first platform admin: the user with an address, or outside of production whoever signs up first; undefined is nobody. */
function firstAdminOf({ NODE_ENV, FIRST_ADMIN_EMAIL: email, REQUIRE_EMAIL_VERIFICATION }: ServerVariables) {
  const production = NODE_ENV === 'production';
  if (production && email === undefined) return undefined;
  // Without verification, anybody could sign up with the address and become admin.
  return { email: email?.toLowerCase(), verified: production || REQUIRE_EMAIL_VERIFICATION === true };
}

function senderNameOf({ EMAIL_FROM }: ServerVariables): string {
  const [name = '', address] = EMAIL_FROM.split('<');
  return (address !== undefined && name.replaceAll('"', '').trim()) || 'Sheaf';
}

/** If there is a direct URL, `DATABASE_URL` leads to a pooler in transaction mode. */
function databaseOf(e: ServerVariables) {
  const pooled = e.DATABASE_DIRECT_URL !== undefined;
  return { url: e.DATABASE_URL, directUrl: e.DATABASE_DIRECT_URL ?? e.DATABASE_URL, pooled, poolSize: e.DATABASE_POOL_SIZE };
}

function temporalOf(e: ServerVariables) {
  return {
    address: e.TEMPORAL_ADDRESS,
    namespace: e.TEMPORAL_NAMESPACE,
    apiKey: e.TEMPORAL_API_KEY,
    tls: { ca: e.TEMPORAL_TLS_CA, cert: e.TEMPORAL_TLS_CERT, key: e.TEMPORAL_TLS_KEY },
    payloadKeys: e.TEMPORAL_PAYLOAD_KEYS,
    uiUrl: e.TEMPORAL_UI_URL,
  };
}

const minIncomingBytes = 512 * 1024 * 1024;

/** How the bytes of documents are taken if no bucket is used. The largest document always fits. */
function uploadsOf(e: ServerVariables) {
  const incomingBytesPerOrganization = Math.max(minIncomingBytes, e.MAX_UPLOAD_BYTES);
  return {
    minBytesPerSecond: 4_096,
    rateWindowMs: 60_000,
    incomingBytes: 4 * incomingBytesPerOrganization,
    incomingBytesPerOrganization,
    /** Uploads are refused before less than this is free on the disk. */
    reserveBytes: 256 * 1024 * 1024,
  };
}

/**
 * The limits of sign-up: how many organizations on the free plan one user owns, and how many invitations one organization, and one address,
 * may have in a day. Undefined means no limit: the default outside of production; for organizations also the default without billing.
 */
function signUpOf(e: ServerVariables) {
  const inProduction = e.NODE_ENV === 'production';
  const invitationsPerDay = e.INVITATIONS_PER_DAY ?? (inProduction ? 200 : undefined);
  return {
    organizationsPerUser: e.MAX_ORGANIZATIONS_PER_USER ?? (inProduction && billingOf(e).enabled ? 10 : undefined),
    invitationsPerDay,
    invitationsPerAddressPerDay: invitationsPerDay === undefined ? undefined : 5,
  };
}

function billingOf(e: ServerVariables) {
  return {
    enabled: Boolean(e.STRIPE_SECRET_KEY && e.STRIPE_WEBHOOK_SECRET),
    secretKey: e.STRIPE_SECRET_KEY,
    webhookSecret: e.STRIPE_WEBHOOK_SECRET,
    /** The first price is sold; subscriptions to the others are recognized. */
    pricesPro: e.STRIPE_PRICE_PRO,
    pricesTeam: e.STRIPE_PRICE_TEAM,
    seatPricesTeam: e.STRIPE_SEAT_PRICE_TEAM,
    apiBase: e.STRIPE_API_BASE,
    dunningDays: e.BILLING_DUNNING_DAYS,
  };
}

function workerOf(e: ServerVariables) {
  return {
    enabled: e.WORKER_ENABLED,
    concurrency: e.WORKER_CONCURRENCY,
    /** By default so many that the AI service always has a next call while the worker stores a document. */
    embedCalls: e.WORKER_EMBED_CALLS || 4 * e.WORKER_CONCURRENCY,
    jobKinds: e.WORKER_JOB_KINDS,
    shutdownGraceMs: e.WORKER_SHUTDOWN_GRACE_MS,
  };
}

function provider(e: ServerVariables, letter: 'A' | 'B'): ProviderConfig | undefined {
  const issuer = e[`PROVIDER_${letter}_ISSUER`];
  const clientId = e[`PROVIDER_${letter}_CLIENT_ID`];
  const clientSecret = e[`PROVIDER_${letter}_CLIENT_SECRET`];
  if (!issuer || !clientId || !clientSecret) return undefined;
  return { id: letter === 'A' ? 'provider_a' : 'provider_b', issuer, clientId, clientSecret };
}
