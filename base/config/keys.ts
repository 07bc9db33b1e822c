import { createHash, hkdfSync } from 'node:crypto';

/** The purpose of a key that is derived from AUTH_SECRET. */
type KeyPurpose = 'session' | 'cursor' | 'signed-url' | 'event-id' | 'at-rest';

interface AuthSecrets {
  authSecret: string;
  previousAuthSecret?: string | undefined;
}

interface VersionedSecret {
  version: number;
  value: string;
}

/** Derives the 32-byte key of a purpose from AUTH_SECRET, so that a signature for one purpose is invalid for all others. */
export function deriveKey(authSecret: string, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', authSecret, '', `sheaf/${purpose}`, 32));
}

/** The key of a purpose that signs and encrypts, then the one that what exists may have been signed and encrypted with. */
export function deriveKeys({ authSecret, previousAuthSecret }: AuthSecrets, purpose: KeyPurpose): [Buffer, ...Buffer[]] {
  return [deriveKey(authSecret, purpose), ...(previousAuthSecret ? [deriveKey(previousAuthSecret, purpose)] : [])];
}

/** The secret that signs session cookies and bearer tokens, then the one that may have signed those that exist. */
export function sessionSecrets(config: AuthSecrets): [string, ...string[]] {
  const [secret, ...previous] = deriveKeys(config, 'session');
  return [secret.toString('base64url'), ...previous.map((each) => each.toString('base64url'))];
}

/**
 * The same for better-auth, which signs with the first one only and encrypts second factors with a note of which one. The note is made of
 * the secret itself, so that it stays the same when another one comes before it. What has none yet was encrypted with the oldest.
 */
export function authSecrets(config: AuthSecrets): { secret: string; secrets: [VersionedSecret, ...VersionedSecret[]] } {
  const values = sessionSecrets(config);
  const versionOf = (value: string) => createHash('sha256').update(value).digest().readUInt32BE();
  const [present, ...previous] = values.map((value) => ({ version: versionOf(value), value })) as [VersionedSecret, ...VersionedSecret[]];
  return { secret: values.at(-1) ?? values[0], secrets: [present, ...previous] };
}
