import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { WebhookSignature } from '../../contract/webhooks.ts';

/** The key with which deliveries to an endpoint are signed, in the forms of Standard Webhooks. */
interface EndpointSecret {
  secret: string;
  public_key: string | null;
}

/** A new secret of 256 random bits, `whsec_…`; for `v1a` a pair of Ed25519 keys, `whsk_…` and `whpk_…`. */
export function createSecret(signature: WebhookSignature): EndpointSecret {
  if (signature === 'v1') return { secret: `whsec_${randomBytes(32).toString('base64')}`, public_key: null };
  // A private JWK holds both keys.
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return { secret: `whsk_${toBase64(d)}`, public_key: `whpk_${toBase64(x)}` };
}

function toBase64(base64Url: string): string {
  return Buffer.from(base64Url, 'base64url').toString('base64');
}
