import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Changes the key of what is stored encrypted. */
export interface Resealer {
  /** How everything begins that needs no other key, unless there is a previous one. */
  prefix: string;
  /** Whether there is a previous key that what begins so may have been sealed with. */
  hasPrevious: boolean;
  /** What was sealed with a previous key, or not at all, sealed with the present one. Anything else is returned as it is. */
  reseal(stored: string): string | Promise<string>;
}

/**
 * Encrypts the secrets that the service has to read again, with a key that is not in the database: neither the database nor a backup holds
 * one in clear.
 */
export interface SecretBox extends Resealer {
  /** A sealed secret is left as it is. */
  seal(secret: string): string;
  /** A row from before secrets were sealed is returned as it is. Throws if it was sealed with another key. */
  open(stored: string): string;
  /** As `open`; undefined if it was sealed with another key. */
  tryOpen(stored: string): string | undefined;
}

/** How everything that is sealed begins: no secret of a provider and none of this service begins so. */
const sealedPrefix = 'sealed.1.';

/** The columns of `account` with tokens of a sign-in provider. */
export const tokenColumns = ['accessToken', 'refreshToken', 'idToken'] as const;

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * `keys`: 32 bytes each. The first one seals, all open. What is sealed is the prefix and, in Base64, a fresh nonce, the tag, and the
 * encrypted secret.
 */
export function createSecretBox(...[key, ...previous]: [Buffer, ...Buffer[]]): SecretBox {
  const box: SecretBox = {
    prefix: sealedPrefix,
    hasPrevious: previous.length > 0,
    seal(secret) {
      if (secret.startsWith(sealedPrefix)) return secret;
      const nonce = randomBytes(nonceBytes);
      const sealing = createCipheriv(cipher, key, nonce);
      const sealed = [sealing.update(secret, 'utf8'), sealing.final()];
      return sealedPrefix + Buffer.concat([nonce, sealing.getAuthTag(), ...sealed]).toString('base64');
    },
    open(stored) {
      const secret = box.tryOpen(stored);
      if (secret === undefined) throw new Error('A secret in the database was encrypted with another AUTH_SECRET.');
      return secret;
    },
    tryOpen(stored) {
      if (!stored.startsWith(sealedPrefix)) return stored;
      for (const each of [key, ...previous]) {
        const opened = openWith(each, stored);
        if (opened !== undefined) return opened;
      }
      return undefined;
    },
    reseal(stored) {
      const opened = box.tryOpen(stored);
      return opened === undefined || openWith(key, stored) !== undefined ? stored : box.seal(opened);
    },
  };
  return box;
}

/** Undefined if it was sealed with another key, or not at all. */
function openWith(key: Buffer, stored: string): string | undefined {
  if (!stored.startsWith(sealedPrefix)) return undefined;
  const bytes = Buffer.from(stored.slice(sealedPrefix.length), 'base64');
  try {
    const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
    opening.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    return Buffer.concat([opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
