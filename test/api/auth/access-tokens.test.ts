import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { exportSPKI, importJWK } from 'jose';
import { type AccessTokens, createAccessTokens } from '../../../api/auth/access-tokens.ts';
import type { ProviderConfig } from '../../../base/config/server.ts';
import { startTokenIssuer, type TokenIssuer } from '../../support/token-issuer.ts';

const resource = 'https://api.example.com/mcp';
const good = { aud: resource, sub: 'person-1' };
const past = Math.floor(Date.now() / 1_000) - 60;

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const configured = (issuer: string): ProviderConfig => ({ id: 'provider_a', issuer, clientId: 'a', clientSecret: 'b' });

describe('Access tokens of a provider', () => {
  let issuer: TokenIssuer;
  let other: TokenIssuer;
  let tokens: AccessTokens;
  before(async () => {
    [issuer, other] = [await startTokenIssuer(), await startTokenIssuer()];
    tokens = createAccessTokens([configured(issuer.issuer)], resource);
  });
  after(async () => {
    await issuer.stop();
    await other.stop();
  });

  async function refusalOf(token: string): Promise<string> {
    return tokens.verify(token).then(
      () => 'taken',
      (error) => `${error.code}: ${error.message}`,
    );
  }

  it('are taken with all that they say', async () => {
    const exp = Math.floor(Date.now() / 1_000) + 60;
    const token = await issuer.sign({ ...good, exp, scope: 'mcp:read mcp:write other' });
    const scopes = ['mcp:read', 'mcp:write', 'other'];
    const found = { providerIds: ['provider_a'], subject: 'person-1', clientId: 'a-client', expiresAt: exp, scopes };
    expect(await tokens.verify(token)).to.deep.equal(found);
    const listed = await issuer.sign({ ...good, aud: ['https://other.example.com', resource], scope: undefined, scp: ['mcp:read', 7] });
    expect((await tokens.verify(listed)).scopes).to.deep.equal(['mcp:read']);
    expect((await tokens.verify(await issuer.sign({ ...good, scope: undefined }))).scopes).to.deep.equal([]);
  });

  it('are taken from a provider whose clock is some seconds ahead', async () => {
    expect(await refusalOf(await issuer.sign({ ...good, nbf: Math.floor(Date.now() / 1_000) + 20 }))).to.equal('taken');
  });

  it('are those of each provider with this issuer, if two are configured', async () => {
    const twice = createAccessTokens([configured(issuer.issuer), { ...configured(issuer.issuer), id: 'provider_b' }], resource);
    expect((await twice.verify(await issuer.sign(good))).providerIds).to.deep.equal(['provider_a', 'provider_b']);
  });

  it('are refused for another audience, issuer, time or person', async () => {
    const { iss: _, ...unnamed } = { ...good, iss: '' };
    for (const [claims, why] of [
      [{ ...good, aud: undefined }, 'aud'],
      [{ ...good, aud: 'https://api.example.com' }, 'aud'],
      [{ ...good, aud: `${resource}/` }, 'aud'],
      [{ ...good, aud: 'https://API.example.com/mcp' }, 'aud'],
      [{ ...good, aud: [] }, 'aud'],
      [{ ...good, iss: 'https://elsewhere.example.com' }, 'issuer'],
      [{ ...good, iss: other.issuer }, 'issuer'],
      [{ ...good, iss: `${issuer.issuer}/` }, 'iss'],
      [{ ...good, iss: undefined }, 'issuer'],
      [{ ...unnamed, iss: [issuer.issuer] }, 'issuer'],
      [{ ...good, exp: past }, 'exp'],
      [{ ...good, exp: undefined }, 'exp'],
      [{ ...good, exp: 'never' }, 'exp'],
      [{ ...good, nbf: past + 660 }, 'nbf'],
      [{ ...good, sub: undefined }, 'sub'],
      [{ ...good, sub: '' }, 'names nobody'],
      [{ ...good, sub: ['person-1'] }, 'names nobody'],
      [{ ...good, cnf: { jkt: 'a-key' } }, 'bound to a key'],
    ] as const)
      expect(await refusalOf(await issuer.sign(claims as never)), JSON.stringify(claims)).to.match(new RegExp(`^UNAUTHORIZED: .*${why}`));
  });

  it('are refused with a signature of anybody else, whatever they say of it', async () => {
    const token = await issuer.sign(good);
    const [header = '', claims = '', signature = ''] = token.split('.');
    const { kid } = issuer.publicKey;
    const spki = await exportSPKI((await importJWK(issuer.publicKey, 'RS256')) as never);
    const hmacOf = (secret: string, unsigned: string) => createHmac('sha256', secret).update(unsigned).digest('base64url');
    const hs = `${encode({ alg: 'HS256', kid })}.${claims}`;
    const own = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const rsa = (head: object) => {
      const unsigned = `${encode(head)}.${claims}`;
      return `${unsigned}.${createSign('sha256').update(unsigned).sign(own.privateKey, 'base64url')}`;
    };
    const jwk = own.publicKey.export({ format: 'jwk' });
    const forged = encode({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), sub: 'person-2' });
    for (const [name, bad] of Object.entries({
      'no algorithm': `${encode({ alg: 'none' })}.${claims}.`,
      'none in other letters': `${encode({ alg: 'nOnE', kid })}.${claims}.`,
      'no signature': `${header}.${claims}.`,
      'the public key as a secret': `${hs}.${hmacOf(spki, hs)}`,
      'the modulus as a secret': `${hs}.${hmacOf(String(issuer.publicKey.n), hs)}`,
      'other claims': `${header}.${forged}.${signature}`,
      'another key': rsa({ alg: 'RS256', kid }),
      'its own key in the header': rsa({ alg: 'RS256', jwk }),
      'a key of its own address': rsa({ alg: 'RS256', kid, jku: `${other.issuer}/keys` }),
      'an extension that must be understood': rsa({ alg: 'RS256', kid, crit: ['b64'], b64: false }),
      'the key of another issuer': await other.sign({ ...good, iss: issuer.issuer }),
      'no JWT': 'a.b.c',
      'five parts': `${token}.a.b`,
    }))
      expect(await refusalOf(bad), name).to.match(/^UNAUTHORIZED: /);
    expect(await refusalOf(token)).to.equal('taken');
  });

  it('are taken by a new key of the issuer, and no longer by the old one; made-up keys do not make it read them each time', async function () {
    this.timeout(30_000);
    const old = await issuer.sign(good);
    expect(await refusalOf(old)).to.equal('taken');
    await issuer.rotate();
    const fresh = await issuer.sign(good);
    await delay(5_100);
    expect(await refusalOf(fresh)).to.equal('taken');
    expect(await refusalOf(old)).to.match(/^UNAUTHORIZED: /);
    const reads = issuer.keyReads;
    for (let i = 0; i < 20; i++) expect(await refusalOf(await issuer.sign(good, { kid: `made-up-${i}` }))).to.match(/^UNAUTHORIZED: /);
    expect(issuer.keyReads - reads).to.be.below(3);
  });

  it('are refused for now while the issuer fails, and are taken once it does not', async () => {
    const token = await other.sign(good);
    tokens = createAccessTokens([configured(other.issuer)], resource);
    other.state = 'broken';
    const all = await Promise.all([refusalOf(token), refusalOf(token), refusalOf(token)]);
    expect(new Set(all)).to.deep.equal(new Set(['SERVICE_UNAVAILABLE: The provider of this access token does not respond.']));
    expect(await tokens.issuers()).to.deep.equal([other.issuer]);
    other.state = 'up';
    expect(await refusalOf(token)).to.equal('taken');
  });

  it('are not taken from a provider whose discovery names another issuer', async () => {
    tokens = createAccessTokens([configured(issuer.issuer.replace('127.0.0.1', 'localhost'))], resource);
    const token = await issuer.sign({ ...good, iss: issuer.issuer.replace('127.0.0.1', 'localhost') });
    expect(await refusalOf(token)).to.match(/^SERVICE_UNAVAILABLE: /);
  });
});
