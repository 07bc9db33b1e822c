import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { PayloadKey, PayloadKeys } from '../../base/config/payload-keys.ts';
import { unknownPayloadKey } from '../../contract/intents/definitions.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
/** The names that Temporal's own examples use, so that its tools show such a payload as an encrypted one. */
const encrypted = 'binary/encrypted';
const keyIdField = 'encryption-key-id';

/** Thrown if a payload cannot be decrypted: its key is missing, or differs from the one of the same id. */
export class UnknownPayloadKey extends Error {
  constructor(message: string) {
    super(message);
    this.name = unknownPayloadKey;
  }
}

/**
 * Encrypts each payload with its metadata, if there is a current key, and decrypts those that were encrypted with a known one; others are
 * left as they are. An encrypted payload names its key; its bytes are a fresh nonce, the tag, and the payload. Throws UnknownPayloadKey.
 */
export function createPayloadCodec({ current, known }: PayloadKeys): PayloadCodec {
  const byId = new Map(known.map((key) => [key.id, key]));
  return {
    encode: async (payloads) => (current ? payloads.map((payload) => encrypt(payload, current)) : payloads),
    decode: async (payloads) => payloads.map((payload) => (isEncrypted(payload) ? decrypt(payload, byId) : payload)),
  };
}

function encrypt(payload: Payload, { id, bytes }: PayloadKey): Payload {
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, bytes, nonce);
  const sealed = [sealing.update(PayloadMessage.encode(payload).finish()), sealing.final()];
  return {
    metadata: { encoding: Buffer.from(encrypted), [keyIdField]: Buffer.from(id) },
    data: Buffer.concat([nonce, sealing.getAuthTag(), ...sealed]),
  };
}

function decrypt({ metadata, data }: Payload, byId: ReadonlyMap<string, PayloadKey>): Payload {
  const id = textOf(metadata?.[keyIdField]);
  const key = byId.get(id);
  if (!key) throw new UnknownPayloadKey(`The payload was encrypted with the key ${JSON.stringify(id)}, which TEMPORAL_PAYLOAD_KEYS lacks.`);
  const bytes = Buffer.from(data ?? []);
  try {
    const opening = createDecipheriv(cipher, key.bytes, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
    opening.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    return PayloadMessage.decode(Buffer.concat([opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]));
  } catch {
    throw new UnknownPayloadKey(`The payload was encrypted with another key than that of the id ${id} in TEMPORAL_PAYLOAD_KEYS.`);
  }
}

function isEncrypted({ metadata }: Payload): boolean {
  return textOf(metadata?.encoding) === encrypted;
}

function textOf(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}
