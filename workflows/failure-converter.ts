import { DefaultFailureConverter, type PayloadConverter, type ProtoFailure, type SerializationContext } from '@temporalio/common';
import { unknownPayloadKey } from '../contract/intents/definitions.ts';

/**
 * Moves messages and stack traces of failures into a payload, so that they are encrypted with the others. Bundled with the workflows, and
 * loaded by workers and clients by its path, only where payloads are encrypted.
 */
class EncodingFailureConverter extends DefaultFailureConverter {
  constructor() {
    super({ encodeCommonAttributes: true });
  }

  /** A worker that lacks a key reports that unencrypted, since others may not have the key with which it encrypts. */
  override errorToFailure(error: unknown, converter: PayloadConverter, context?: SerializationContext): ProtoFailure {
    if (isUnknownPayloadKey(error)) return this.errorToFailureInner(error, converter, context);
    return super.errorToFailure(error, converter, context);
  }
}

function isUnknownPayloadKey(error: unknown): boolean {
  return error instanceof Error && (error.name === unknownPayloadKey || ('type' in error && error.type === unknownPayloadKey));
}

export const failureConverter = new EncodingFailureConverter();
