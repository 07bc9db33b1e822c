import pg from 'pg';
import { pino } from 'pino';
import { type Auth, createAuth } from '../../api/auth/auth.ts';
import { loadServerConfig } from '../../base/config/server.ts';
import { createDb } from '../../db/connect.ts';
import { createPayments } from '../../domain/payments/payments.ts';

/** One endpoint that better-auth serves, with everything turned on. */
export interface AuthEndpoint {
  /** Method and path below `/api/auth`, such as `GET /reset-password/:token`. */
  name: string;
  /** The fields of a request that its schema names, each with whether it may be left out. */
  fields: Map<string, { optional: boolean }>;
  /** Whether the schema takes others too. */
  open: boolean;
}

interface Schema {
  _zod: { optin?: string; def: { innerType?: Schema; left?: Schema; right?: Schema } };
  shape?: Record<string, Schema>;
}

interface Endpoint {
  path?: string;
  options?: { method?: string | string[]; body?: Schema; query?: Schema; metadata?: { SERVER_ONLY?: boolean } };
}

/** better-auth as a service with billing and both providers has it. Connects to nothing. */
export function createWholeAuth(): Auth {
  const config = loadServerConfig(everythingOn);
  const pool = new pg.Pool({ connectionString: config.database.url });
  const db = createDb(pool);
  const log = pino({ level: 'silent' });
  return createAuth({
    ...{ config, pool, db, log },
    payments: createPayments({ config, db, log }),
    writeMails: async () => {},
  });
}

/** Lists what such a service serves below `/api/auth`. */
export function listAuthEndpoints(): AuthEndpoint[] {
  const auth = createWholeAuth();
  return Object.values(auth.api as unknown as Record<string, Endpoint>).flatMap(({ path, options }) => {
    if (path === undefined || options?.metadata?.SERVER_ONLY) return [];
    return [options?.method ?? []].flat().map((method) => ({ name: `${method} ${path}`, ...describe(options?.body ?? options?.query) }));
  });
}

/** Whether a request was for the endpoint: `POST /api/auth/callback/provider_a` for `POST /callback/:id`. */
export function isFor(endpoint: AuthEndpoint, request: string): boolean {
  const pattern = endpoint.name.replace(' ', ' /api/auth').replaceAll(/:\w+/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(request);
}

function describe(schema: Schema | undefined): Omit<AuthEndpoint, 'name'> {
  if (schema === undefined) return { fields: new Map(), open: false };
  const { innerType, left, right } = schema._zod.def;
  if (innerType) return describe(innerType);
  if (left && right) {
    const [one, other] = [describe(left), describe(right)];
    return { fields: new Map([...one.fields, ...other.fields]), open: one.open || other.open };
  }
  const fields = Object.entries(schema.shape ?? {}).map(([name, { _zod }]) => [name, { optional: _zod.optin !== undefined }] as const);
  return { fields: new Map(fields), open: schema.shape === undefined };
}

const everythingOn = {
  NODE_ENV: 'test',
  AUTH_SECRET: 'a-secret-of-this-test-a-secret-of-this-test',
  DATABASE_URL: 'postgres://localhost:1/none',
  STRIPE_SECRET_KEY: 'sk_test_123',
  STRIPE_WEBHOOK_SECRET: 'whsec_test',
  STRIPE_PRICE_PRO: 'price_pro',
  PROVIDER_A_ISSUER: 'http://localhost:1',
  PROVIDER_A_CLIENT_ID: 'a',
  PROVIDER_A_CLIENT_SECRET: 'b',
  PROVIDER_B_ISSUER: 'http://localhost:1',
  PROVIDER_B_CLIENT_ID: 'a',
  PROVIDER_B_CLIENT_SECRET: 'b',
};
