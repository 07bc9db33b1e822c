import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, Connection, Client as TemporalClient } from '@temporalio/client';
import { createDb, createPool, type Db } from '../../db/connect.ts';
import { type Stack, startStack } from '../../local/stack.ts';
import { type AiProxy, startAiProxy } from './ai-proxy.ts';
import { watchEffects } from './watch-effects.ts';

/** What is under drill: every service in a process of its own, durable as a user's, with a proxy before the AI service. */
export interface Service {
  stack: Stack;
  db: Db;
  temporal: Client;
  ai: AiProxy;
  /** Where the local driver keeps the objects. */
  objectsDirectory: string;
  stop(): Promise<void>;
}

/** Short waits and timeouts, so that a drill is bounded; limits that would refuse its load are lifted. */
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
        // The connection to Temporal ends with the process: calls that still try again would find it closed.
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
