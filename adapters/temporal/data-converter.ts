import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { ServerConfig } from '../../base/config/server.ts';
import { createPayloadCodec } from './payload-codec.ts';

/** A path, by which Temporal's SDK and the bundler of the workflows load it. */
const failureConverterPath = fileURLToPath(new URL('../../workflows/failure-converter.ts', import.meta.url));

/**
 * The converter of payloads, which all clients and workers of a namespace must share. Without a current key nothing is encrypted. The codec
 * runs outside of the workflows' sandbox.
 */
export function createDataConverter({ payloadKeys }: Pick<ServerConfig['temporal'], 'payloadKeys'>): DataConverter {
  const payloadCodecs = [createPayloadCodec(payloadKeys)];
  return payloadKeys.current ? { payloadCodecs, failureConverterPath } : { payloadCodecs };
}
