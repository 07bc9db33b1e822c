import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import pino from 'pino';
import { type Auth, createAuth } from '../../../../api/auth/auth.ts';
import type { Mail } from '../../../../api/auth/mails.ts';
import { authPath, mountAuth } from '../../../../api/auth/mount.ts';
import { createFindSession, type FindSession } from '../../../../api/auth/session.ts';
import type { Environment } from '../../../../base/config/environment.ts';
import { sessionSecrets } from '../../../../base/config/keys.ts';
import { loadServerConfig, type ServerConfig } from '../../../../base/config/server.ts';
import type { Db } from '../../../../db/connect.ts';
import { syncPlanLimits } from '../../../../domain/billing/sync-plan-limits.ts';
import { createPayments } from '../../../../domain/payments/payments.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { insertSession, insertUser } from '../../../support/users.ts';
import { Client, type SignedUp } from './client.ts';

export const webOrigin = 'https://app.example.com';

export const billingOn: Environment = {
  STRIPE_SECRET_KEY: 'sk_test_123',
  STRIPE_WEBHOOK_SECRET: 'whsec_test',
  STRIPE_PRICE_PRO: 'price_pro',
  STRIPE_PRICE_TEAM: 'price_team',
};

/** Sign-in alone, served by Express from a free port over a database of its own. */
export interface AuthService {
  url: string;
  config: ServerConfig;
  database: TestDatabase;
  db: Db;
  auth: Auth;
  findSession: FindSession;
  mails: Mail[];
  /** The log lines of level error. */
  errors: unknown[];
  /** The log lines of level warn. */
  warnings: Record<string, unknown>[];
  /** A client with a cookie jar of its own that behaves like curl. */
  client(): Client;
  /** Somebody new who is signed in. */
  newUser(): Promise<SignedUp & { client: Client }>;
  /** A client that is signed in as a platform admin. */
  enterAdmin(): Promise<Client>;
  stop(): Promise<void>;
}

export async function startAuthService(environment: Environment = {}, making = createTestDatabase()): Promise<AuthService> {
  const database = await making;
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = loadServerConfig({ ...defaults, DATABASE_URL: database.url, API_URL: url, ...environment });
  const mails: Mail[] = [];
  const errors: unknown[] = [];
  const warnings: Record<string, unknown>[] = [];
  const write = (line: string) => {
    const entry = JSON.parse(line) as Record<string, unknown>;
    if (Number(entry.level) < 50) warnings.push(entry);
    else errors.push(entry);
  };
  const log = pino({ level: 'warn' }, { write });
  const payments = createPayments({ config, db: database.db, log });
  const auth = createAuth({
    ...{ config, ...database, log, payments },
    writeMails: async (_trx, written) => void mails.push(...written),
  });
  const findSession = createFindSession(database.db, config);
  await syncPlanLimits(database.db, config);
  const addressOf = (req: express.Request) => req.get('x-test-address') ?? '192.0.2.1';
  app.use((req, res, next) => {
    res.setHeader('X-Request-Id', 'request-1');
    res.locals.clientAddress = addressOf(req);
    next();
  });
  app.all(authPath, mountAuth({ auth, db: database.db, config, findSession, log, clientAddress: addressOf }));
  const makeUser = async (name: string) => {
    const { id, email } = await insertUser(database.db, name);
    return { userId: id, email, token: await insertSession(database.db, id, sessionSecrets(config)[0]) };
  };
  const client = () => new Client(url, makeUser);
  return {
    ...{ url, config, database, db: database.db, auth, findSession, mails, errors, warnings, client },
    newUser: async () => {
      const made = client();
      return { client: made, ...(await made.enter()) };
    },
    enterAdmin: async (): Promise<Client> => {
      const admin = client();
      const { userId } = await admin.enter('Admin');
      await database.db.updateTable('user').set({ role: 'admin' }).where('id', '=', userId).execute();
      return admin;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await database.drop();
    },
  };
}

const defaults: Environment = {
  NODE_ENV: 'test',
  AUTH_SECRET: 'a-secret-of-this-test-a-secret-of-this-test',
  WEB_URL: webOrigin,
  // Whoever signs up first would be a platform admin.
  FIRST_ADMIN_EMAIL: 'nobody@example.com',
};
