import { readFileSync } from 'node:fs';
import { Client, type ClientOptions, Connection, type ConnectionOptions, type WorkflowClientInterceptor } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { ServerConfig } from '../../base/config/server.ts';
import { currentTraceparent } from '../../base/telemetry/spans.ts';
import { withTraceparent } from '../../base/telemetry/trace-header.ts';
import { createDataConverter } from './data-converter.ts';

const answerMs = 3_000;

type TemporalConfig = ServerConfig['temporal'];

/**
 * Reconnects within two seconds after an outage, and detects a silently dead connection after 15; gRPC's defaults are up to two minutes and
 * 45 seconds. Temporal refuses clients that ping more often than every ten seconds.
 */
const channelArgs = {
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 2_000,
  'grpc.keepalive_time_ms': 11_000,
  'grpc.keepalive_timeout_ms': 4_000,
};

/** A client that connects when it is first used, so that the API can start while Temporal is down (docs/rules.md, outbox). */
export function createTemporalClient(config: TemporalConfig): Client {
  const connection = Connection.lazy({ ...connectionOptions(config), channelArgs });
  return new Client({ connection, namespace: config.namespace, dataConverter: createDataConverter(config), interceptors });
}

/** The client with the connection of the workers in this process. */
export function overConnection({ options }: Client, connection: NativeConnection): Client {
  return new Client({ connection, namespace: options.namespace, dataConverter: options.loadedDataConverter, interceptors });
}

/** Passes the trace of a start or a signal on to the workflow. */
const passTrace: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, headers: withTraceparent(input.headers, currentTraceparent()) }),
  signalWithStart: (input, next) => next({ ...input, headers: withTraceparent(input.headers, currentTraceparent()) }),
};

const interceptors = { workflow: [passTrace] } satisfies ClientOptions['interceptors'];

/** The connection of the workers. Throws if Temporal is unreachable; the caller retries. */
export function connectWorkers(config: TemporalConfig): Promise<NativeConnection> {
  return NativeConnection.connect(connectionOptions(config));
}

/** Whether Temporal responds to a client in time, over its open connection. */
export async function responds(client: Client): Promise<boolean> {
  return await client
    .withDeadline(Date.now() + answerMs, () => client.workflowService.getSystemInfo({}))
    .then(
      () => true,
      () => false,
    );
}

/** Whether a new connection to Temporal can be made now. */
export async function canConnect(config: TemporalConfig): Promise<boolean> {
  try {
    const connection = await Connection.connect({ ...connectionOptions(config), connectTimeout: answerMs });
    await connection.close();
    return true;
  } catch {
    return false;
  }
}

function connectionOptions({
  address,
  apiKey,
  tls,
}: TemporalConfig): Pick<ConnectionOptions, 'address'> & { apiKey?: string; tls?: object } {
  const files = { ca: read(tls.ca), cert: read(tls.cert), key: read(tls.key) };
  const secure = apiKey !== undefined || files.ca !== undefined || files.cert !== undefined;
  return {
    address,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(secure
      ? {
          tls: {
            ...(files.ca ? { serverRootCACertificate: files.ca } : {}),
            ...(files.cert && files.key ? { clientCertPair: { crt: files.cert, key: files.key } } : {}),
          },
        }
      : {}),
  };
}

function read(path: string | undefined): Buffer | undefined {
  return path === undefined ? undefined : readFileSync(path);
}
