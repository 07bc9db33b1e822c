import { createPrivateKey, sign as signBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** What is signed: the id of the event, the time of the attempt, and the body. */
interface Signed {
  id: string;
  at: Date;
  body: string;
}

const privatePrefix = 'whsk_';
/** A private key of Ed25519 in PKCS #8 is this and its 32 bytes (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The value of `webhook-signature`: a signature by each secret, the newest first. `whsk_…` signs as `v1a`, everything else as `v1`. */
export function signAll(secrets: readonly string[], signed: Signed): string {
  return secrets.map((secret) => (secret.startsWith(privatePrefix) ? signByKey(secret, signed) : signBySecret(secret, signed))).join(' ');
}

function signBySecret(secret: string, { id, at, body }: Signed): string {
  return new Webhook(secret).sign(id, at, body);
}

/** The npm package knows only `v1`. */
function signByKey(secret: string, { id, at, body }: Signed): string {
  const der = Buffer.concat([pkcs8Prefix, Buffer.from(secret.slice(privatePrefix.length), 'base64')]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const content = `${id}.${secondsOf(at)}.${body}`;
  return `v1a,${signBytes(null, Buffer.from(content), key).toString('base64')}`;
}

/** The value of `webhook-timestamp`. */
export function secondsOf(at: Date): number {
  return Math.floor(at.getTime() / 1_000);
}
