import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { ServerConfig } from '../config/server.ts';
import { createPayloadCodec } from './payload-codec.ts';

/** Temporal's SDK and the bundler of the workflows load it by its path. */
const failureConverterPath = fileURLToPath(new URL('../workflows/failure-converter.ts', import.meta.url));

/**
 * How clients and workers write and read payloads: one and the same for all that share a namespace. Without a current key nothing is
 * encrypted. The codec runs outside of the workflows' sandbox.
 */
export function createDataConverter({ payloadKeys }: Pick<ServerConfig['temporal'], 'payloadKeys'>): DataConverter {
  const payloadCodecs = [createPayloadCodec(payloadKeys)];
  return payloadKeys.current ? { payloadCodecs, failureConverterPath } : { payloadCodecs };
}
