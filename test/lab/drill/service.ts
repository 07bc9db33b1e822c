import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, Connection, Client as TemporalClient } from '@temporalio/client';
import type { Environment } from '../../../base/config/environment.ts';
import { createDb, createPool, type Db } from '../../../db/connect.ts';
import { type Stack, startStack } from '../../../ops/local/stack.ts';
import { environmentOf, type S3Server, startS3Server } from '../../adapters/storage/s3-server.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { withTimes } from '../../support/times.ts';
import { type AiProxy, startAiProxy } from './ai-proxy.ts';
import { watchEffects } from './watch-effects.ts';

/** A dependency behind a proxy. */
export type Cuttable = 'postgres' | 'temporal' | 'ai' | 'bucket';

/** The service under drill: every process separate, with the durability of production, and a proxy in front of the AI service. */
export interface Service {
  stack: Stack;
  /** The ways of the API and the worker to what they depend on, which can be cut. */
  ways: Record<Exclude<Cuttable, 'bucket'>, TcpProxy> & { bucket?: TcpProxy };
  db: Db;
  temporal: Client;
  ai: AiProxy;
  /** The directory of the local storage driver, or that of the bucket. */
  objectsDirectory: string;
  stop(): Promise<void>;
}

/** How many attempts run at once. */
export const workerConcurrency = 8;

/** Short waits and timeouts keep a drill short; rate limits are raised above its load. */
const env = withTimes(
  { jobRetryDelays: [1_000, 2_000, 3_000], outageProbes: [500, 1_000, 2_000], outageSlot: 100 },
  {
    JOB_TIMEOUT_MS: '5000',
    WORKER_CONCURRENCY: String(workerConcurrency),
    WORKER_SHUTDOWN_GRACE_MS: '2000',
    RATE_LIMIT_PER_MINUTE: '100000000',
    ORGANIZATION_REQUESTS_PER_SECOND: '1000000',
    AUDIT_LOG_RETENTION_DAYS: '100',
    WEBHOOKS_ENABLED: 'true',
    WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.1/32',
    LOG_LEVEL: 'info',
    // An inherited port would be asked for by the API, the worker and what runs here already.
    METRICS_PORT: '',
  },
);

/** Starts the service in an empty directory below the system's temporary one; with `bucket`, on a server of S3 that holds the documents. */
export async function startService({ bucket = false } = {}): Promise<Service> {
  const s3 = bucket ? await startS3Server() : undefined;
  return startOn(s3).catch(async (error: unknown) => {
    await s3?.close();
    throw error;
  });
}

async function startOn(s3: S3Server | undefined): Promise<Service> {
  const dataDir = mkdtempSync(join(realpathSync(tmpdir()), 'sheaf-drill-'));
  const ai = await startAiProxy();
  // The stack reads it at each start of a service.
  const serviceEnv: Environment = { ...env, WORKER_ENABLED: 'false' };
  try {
    const stack = await startStack({
      dataDir,
      services: ['postgres', 'temporal', 'ai'],
      temporalUi: false,
      env: serviceEnv,
    });
    ai.forwardTo(`http://127.0.0.1:${stack.ports.ai}`);
    const ways = await openWays(stack, ai, s3);
    Object.assign(serviceEnv, through(stack, ways));
    await stack.start('api');
    await stack.start('worker');
    const db = createDb(createPool({ url: stack.databaseUrl, poolSize: 4, name: 'sheaf drill' }));
    await watchEffects(db);
    const connection = Connection.lazy({ address: stack.temporalAddress, channelArgs: { 'grpc.max_reconnect_backoff_ms': 1_000 } });
    return {
      stack,
      ways,
      db,
      temporal: new TemporalClient({ connection }),
      ai,
      objectsDirectory: s3?.directory ?? join(dataDir, 'objects'),
      async stop() {
        // The connection to Temporal stays open until the process ends, because retrying calls would fail on a closed one.
        await db.destroy();
        await stack.stop();
        ai.stop();
        for (const way of Object.values(ways)) await way.stop();
        await s3?.close();
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    ai.stop();
    throw error;
  }
}

async function openWays({ ports }: Stack, ai: AiProxy, s3: S3Server | undefined): Promise<Service['ways']> {
  const open = (port: number) => startTcpProxy({ host: '127.0.0.1', port });
  const portOf = (url: string) => Number(new URL(url).port);
  return {
    postgres: await open(ports.postgres),
    temporal: await open(ports.temporal),
    ai: await open(portOf(ai.url)),
    ...(s3 && { bucket: await open(portOf(s3.options.apiEndpoint)) }),
  };
}

/** The variables of services that use these ways. */
function through({ databaseUrl }: Stack, { postgres, temporal, ai, bucket }: Service['ways']): Environment {
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${postgres.port}`;
  return {
    DATABASE_URL: url.href,
    TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
    AI_SERVICE_URL: `http://127.0.0.1:${ai.port}`,
    ...(bucket && environmentOf(`http://127.0.0.1:${bucket.port}`)),
  };
}
