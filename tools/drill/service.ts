import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, Connection, Client as TemporalClient } from '@temporalio/client';
import { createDb, createPool, type Db } from '../../db/connect.ts';
import { type Stack, startStack } from '../../local/stack.ts';
import { type AiProxy, startAiProxy } from './ai-proxy.ts';
import { watchEffects } from './count.ts';

/** The service under drill: every process separate, with the durability of production, and a proxy in front of the AI service. */
export interface Service {
  stack: Stack;
  db: Db;
  temporal: Client;
  ai: AiProxy;
  /** The directory of the local storage driver. */
  objectsDirectory: string;
  stop(): Promise<void>;
}

/** Short waits and timeouts keep a drill short; rate limits are raised above its load. */
const env = {
  JOB_RETRY_DELAYS_MS: '1000,2000,3000',
  JOB_TIMEOUT_MS: '5000',
  WORKER_CONCURRENCY: '8',
  WORKER_SHUTDOWN_GRACE_MS: '2000',
  RATE_LIMIT_PER_MINUTE: '100000000',
  AUDIT_LOG_RETENTION_DAYS: '100',
  LOG_LEVEL: 'info',
};

/** Starts the service in an empty directory below the system's temporary one. */
export async function startService(): Promise<Service> {
  const dataDir = mkdtempSync(join(realpathSync(tmpdir()), 'sheaf-drill-'));
  const ai = await startAiProxy();
  try {
    const stack = await startStack({
      dataDir,
      services: ['postgres', 'temporal', 'ai', 'api', 'worker'],
      temporalUi: false,
      env: { ...env, AI_SERVICE_URL: ai.url },
    });
    ai.forwardTo(`http://127.0.0.1:${stack.ports.ai}`);
    const db = createDb(createPool({ url: stack.databaseUrl, poolSize: 4, name: 'sheaf drill' }));
    await watchEffects(db);
    const connection = Connection.lazy({ address: stack.temporalAddress, channelArgs: { 'grpc.max_reconnect_backoff_ms': 1_000 } });
    return {
      stack,
      db,
      temporal: new TemporalClient({ connection }),
      ai,
      objectsDirectory: join(dataDir, 'objects'),
      async stop() {
        // The connection to Temporal stays open until the process ends, because retrying calls would fail on a closed one.
        await db.destroy();
        await stack.stop();
        ai.stop();
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    ai.stop();
    throw error;
  }
}
