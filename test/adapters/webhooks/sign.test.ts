import { createPublicKey, verify } from 'node:crypto';
import { expect } from 'chai';
import { signAll } from '../../../adapters/webhooks/sign.ts';
import { createSecret } from '../../../domain/webhooks/create-secret.ts';

const signed = { id: 'evt_1', at: new Date('2026-11-26T12:00:00.500Z'), body: '{"type":"job.succeeded","data":{"name":"Ä"}}' };
const content = `evt_1.1795694400.${signed.body}`;

/** A receiver's own check of `v1a`, with nothing but the public key. */
function verifies(publicKey: string, signature: string, text: string): boolean {
  const x = Buffer.from(publicKey.slice('whpk_'.length), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(text), key, Buffer.from(signature.slice('v1a,'.length), 'base64'));
}

describe('The signature of a webhook', () => {
  it('is that of the standard, whose example of another implementation it repeats', () => {
    const at = new Date(1_614_265_330_000);
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const example = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', at, body: '{"test": 2432232314}' };
    expect(signAll([secret], example)).to.equal('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('is verified by the public key alone if it is v1a, and by no other', () => {
    const { secret, public_key: publicKey } = createSecret('v1a');
    const header = signAll([secret], signed);
    expect(header).to.match(/^v1a,[\w+/]{86}==$/);
    expect(verifies(publicKey ?? '', header, content)).to.equal(true);
    expect(verifies(publicKey ?? '', header, `${content} `)).to.equal(false);
    expect(verifies(createSecret('v1a').public_key ?? '', header, content)).to.equal(false);
  });
});
