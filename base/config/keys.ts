import { hkdfSync } from 'node:crypto';

/** The purpose of a key that is derived from AUTH_SECRET. */
type KeyPurpose = 'session' | 'cursor' | 'signed-url' | 'event-id' | 'at-rest';

/** Derives the 32-byte key of a purpose from AUTH_SECRET, so that a signature for one purpose is invalid for all others. */
export function deriveKey(authSecret: string, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', authSecret, '', `sheaf/${purpose}`, 32));
}

/** The key of a purpose that signs and encrypts, then the one that what exists may have been signed and encrypted with. */
export function deriveKeys(
  { authSecret, previousAuthSecret }: { authSecret: string; previousAuthSecret?: string | undefined },
  purpose: KeyPurpose,
): [Buffer, ...Buffer[]] {
  return [deriveKey(authSecret, purpose), ...(previousAuthSecret ? [deriveKey(previousAuthSecret, purpose)] : [])];
}
