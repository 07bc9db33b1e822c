import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../../base/config/environment.ts';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { type MailServer, startMailServer } from '../../support/smtp.ts';
import { Compose } from './compose.ts';

/** The deployment under test. */
export interface Deployment {
  compose: Compose;
  /** Of the edge. */
  url: string;
  temporalUiUrl: string;
  /** Of the role that the service has in Postgres. */
  databasePassword: string;
  /** What is kept in files. */
  secrets: string[];
  mails: MailServer;
  /** Stops the mail server, and removes what was written for the deployment. */
  forget(): Promise<void>;
}

/** What a deployment has beside the usual. */
interface Additions {
  /** Variables of its .env. */
  env: Environment;
  /** Secrets by the program that reads them (`server`, …), and by the names of their files. */
  secrets: Record<string, Record<string, string>>;
}

/**
 * Writes an .env for docker-compose.yml: free ports, secrets in files, and an SMTP server on this machine. Verified addresses are not asked
 * for, because the demo makes addresses up; requests are hardly limited, because all of them come from one address. What is added wins.
 */
export async function prepareDeployment(added: Additions = { env: {}, secrets: {} }, project = '.'): Promise<Deployment> {
  const mails = await startMailServer({ host: findAddressForContainers() });
  const directory = mkdtempSync(join(tmpdir(), 'sheaf-containers-'));
  const [port, uiPort] = await findFreePorts(2);
  const secret = () => randomBytes(32).toString('hex');
  const databasePassword = secret();
  const token = secret();
  const files = {
    server: {
      'auth-secret': secret(),
      'service-token': token,
      'smtp-url': mails.url,
      'database-url': `postgres://sheaf:${databasePassword}@postgres:5432/sheaf`,
      ...added.secrets.server,
    },
    ai: { 'service-token': token },
    postgres: { 'postgres-password': secret(), 'database-password': databasePassword },
    tls: added.secrets.tls ?? {},
  };
  for (const [owner, secrets] of Object.entries(files)) writeSecrets(join(directory, 'secrets', owner), secrets);
  const env = {
    SECRETS_DIR: join(directory, 'secrets'),
    AUTH_SECRET_FILE: '/run/secrets/auth-secret',
    SERVICE_TOKEN_FILE: '/run/secrets/service-token',
    SMTP_URL_FILE: '/run/secrets/smtp-url',
    DATABASE_URL_FILE: '/run/secrets/database-url',
    POSTGRES_PASSWORD_FILE: '/run/secrets/postgres-password',
    DATABASE_PASSWORD_FILE: '/run/secrets/database-password',
    TEMPORAL_DATABASE_PASSWORD: secret(),
    API_URL: `http://localhost:${port}`,
    EDGE_PORT: String(port),
    TEMPORAL_UI_PORT: String(uiPort),
    TEMPORAL_UI_URL: `http://localhost:${uiPort}`,
    EMAIL_FROM: '"Sheaf <no-reply@example.com>"',
    REQUIRE_EMAIL_VERIFICATION: 'false',
    RATE_LIMIT_PER_MINUTE: '100000',
    METRICS_PORT: '9464',
    ...added.env,
  };
  const envFile = join(directory, '.env');
  writeFileSync(
    envFile,
    Object.entries(env)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  return {
    compose: new Compose(`sheaf-test-${process.pid}`, envFile, project),
    url: env.API_URL,
    temporalUiUrl: env.TEMPORAL_UI_URL,
    databasePassword,
    secrets: Object.values(files).flatMap((each) => Object.values(each)),
    mails,
    forget: async () => {
      await mails.stop();
      rmSync(directory, { recursive: true });
    },
  };
}

/** An address of this machine that containers reach: that in the engine's own network if there is one. */
function findAddressForContainers(): string {
  const interfaces = networkInterfaces();
  const all = [...(interfaces.docker0 ?? []), ...Object.values(interfaces).flatMap((each) => each ?? [])];
  const found = all.find(({ family, internal }) => family === 'IPv4' && !internal);
  if (!found) throw new Error('This machine has no address that containers could reach.');
  return found.address;
}

/** The users of the containers read them, who are not the user of this process. */
function writeSecrets(directory: string, secrets: Record<string, string>): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, value] of Object.entries(secrets)) {
    writeFileSync(join(directory, name), `${value}\n`);
    chmodSync(join(directory, name), 0o444);
  }
}
