import { hkdfSync } from 'node:crypto';

/** What a key derived from AUTH_SECRET is for. */
export type KeyPurpose = 'session' | 'cursor' | 'signed-url' | 'event-id';

/** Derives the 32 byte key of one purpose from AUTH_SECRET, so that what one purpose signs is worthless to every other. */
export function deriveKey(authSecret: string, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', authSecret, '', `sheaf/${purpose}`, 32));
}
