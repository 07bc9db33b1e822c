import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Environment } from '../../../../base/config/environment.ts';
import { type ServiceName, type Stack, startStack } from '../../../../ops/local/stack.ts';
import { createOwnDatabase } from './own-database.ts';

/** The service that is measured: the embedded stack as `npm start` runs it, and a tenant in it. */
export interface Service {
  stack: Stack;
  url: string;
  token: string;
  organizationId: string;
  workspaceId: string;
  pool: pg.Pool;
  /** Sends a JSON request over keep-alive connections. Throws unless the status is 200. */
  call<T = any>(method: string, path: string, body?: unknown, token?: string): Promise<T>;
  signUp(): Promise<{ id: string; token: string }>;
  /** The resident memory of the API's process, in MB. */
  memoryMb(): number;
  stop(): Promise<void>;
}

const allInApi: ServiceName[] = ['postgres', 'temporal', 'ai', 'api'];

/**
 * Starts a stack in an empty directory, with the durability of production. Rate limits are raised above the load. With `DATABASE_URL` it uses
 * a database of its own on that server, instead of the embedded one, and with `TEMPORAL_ADDRESS` the server that is named. `services` names what runs: with `worker`, the API runs none inside.
 */
export async function startService(env: Environment = {}, services = allInApi): Promise<Service> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-bench-'));
  const limits = {
    RATE_LIMIT_PER_MINUTE: '100000000',
    ORGANIZATION_REQUESTS_PER_SECOND: '1000000',
    SEARCH_LIMIT_PER_MINUTE: '100000000',
    QUESTION_LIMIT_PER_MINUTE: '100000000',
    MAX_ORGANIZATIONS_PER_USER: '1000000',
    LOG_LEVEL: 'warn',
  };
  const { DATABASE_URL: server, TEMPORAL_ADDRESS: temporalAddress } = process.env;
  const database = server === undefined ? undefined : await createOwnDatabase(server);
  const external = { ...(database && { databaseUrl: database.url }), ...(temporalAddress !== undefined && { temporalAddress }) };
  const own = services.filter((name) => !(name === 'postgres' && database) && !(name === 'temporal' && temporalAddress));
  const stack = await startStack({ dataDir, services: own, temporalUi: false, env: { ...limits, ...env }, external });
  const agent = new Agent({ keepAlive: true });
  const call = (method: string, path: string, body?: unknown, token?: string) =>
    callJson(agent, `${stack.apiUrl}${path}`, method, body, token ?? service.token);
  const service: Service = {
    stack,
    url: stack.apiUrl,
    token: '',
    organizationId: '',
    workspaceId: '',
    pool: new pg.Pool({ connectionString: stack.databaseUrl, max: 10 }),
    call,
    async signUp() {
      const response = await fetch(`${stack.apiUrl}/api/auth/sign-up/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Bench', email: `${randomUUID()}@example.com`, password: 'a long password' }),
      });
      const { user } = (await response.json()) as { user: { id: string } };
      return { id: user.id, token: response.headers.get('set-auth-token') ?? '' };
    },
    memoryMb: () => residentMb(stack.pid('api') ?? 0),
    async stop() {
      agent.destroy();
      await service.pool.end();
      await stack.stop();
      await database?.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  const owner = await service.signUp();
  service.token = owner.token;
  const slug = `bench-${randomUUID()}`;
  service.organizationId = (await call('POST', '/api/auth/organization/create', { name: slug, slug })).id;
  const workspace = { organizationId: service.organizationId, name: 'Bench', slug: 'bench' };
  service.workspaceId = (await call('POST', '/api/v1/workspaces', workspace)).id;
  return service;
}

function residentMb(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1_024;
}

/** Sends a JSON request. Sends again what met a connection that the service closed just then, because it was idle. */
export async function callJson(...request: Parameters<typeof callOnce>): Promise<any> {
  for (let tries = 1; ; tries++) {
    try {
      return await callOnce(...request);
    } catch (error) {
      if (!(error instanceof IdleConnectionClosed) || tries > 2) throw error;
    }
  }
}

class IdleConnectionClosed extends Error {}

function callOnce(agent: Agent, url: string, method: string, body: unknown, token: string): Promise<any> {
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${token}`,
      ...(payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
    };
    const req = httpRequest(url, { method, agent, headers }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.on('end', () =>
        res.statusCode === 200 ? resolve(JSON.parse(text)) : reject(new Error(`${method} ${url}: ${res.statusCode} ${text}`)),
      );
    });
    req.on('error', (error) => {
      const idle = req.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
      reject(idle ? new IdleConnectionClosed(error.message, { cause: error }) : error);
    });
    req.end(payload);
  });
}
