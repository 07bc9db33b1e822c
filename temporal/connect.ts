import { readFileSync } from 'node:fs';
import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { ServerConfig } from '../config/server.ts';

type TemporalConfig = ServerConfig['temporal'];

/** After an outage the client is back within two seconds; by itself gRPC waits ever longer, up to two minutes. */
const channelArgs = { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 2_000 };

/** A client that connects when it is first used, so that the API boots while Temporal is down (docs/rules.md, outbox). */
export function createTemporalClient(config: TemporalConfig): Client {
  return new Client({ connection: Connection.lazy({ ...connectionOptions(config), channelArgs }), namespace: config.namespace });
}

/** The connection of the workers. Throws while Temporal cannot be reached: whoever calls it tries again. */
export function connectWorkers(config: TemporalConfig): Promise<NativeConnection> {
  return NativeConnection.connect(connectionOptions(config));
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

/** The TLS variables name files. */
function read(path: string | undefined): Buffer | undefined {
  return path === undefined ? undefined : readFileSync(path);
}
