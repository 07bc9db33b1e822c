import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';

/** A provider of OpenID Connect on this machine that gives access tokens for a resource. */
export interface TokenIssuer {
  issuer: string;
  /** How often its keys were read. */
  readonly keyReads: number;
  /** The published key of now. */
  readonly publicKey: JWK;
  /** Whether it responds: in order, with 503, or never. */
  state: 'up' | 'broken' | 'silent';
  /** Signs a token with its key of now. By default it is good for five minutes, with the scope to read. */
  sign(claims: JWTPayload, header?: Partial<JWTHeaderParameters>): Promise<string>;
  /** Signs with a new key from now on, and publishes only that. */
  rotate(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an issuer on a free port. It signs with RS256. */
export async function startTokenIssuer(): Promise<TokenIssuer> {
  let key: { id: string; privateKey: CryptoKey; publicKey: JWK };
  let rotations = 0;
  let keyReads = 0;
  const held = new Set<ServerResponse>();
  const server = createServer((req, res) => {
    if (issuer.state === 'silent') return void held.add(res);
    if (issuer.state === 'broken') return res.writeHead(503).end();
    const documents: Record<string, () => unknown> = {
      '/.well-known/openid-configuration': describeIssuer,
      '/keys': () => {
        keyReads++;
        return { keys: [key.publicKey] };
      },
    };
    const document = documents[req.url ?? ''];
    if (!document) return res.writeHead(404).end();
    return res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function describeIssuer() {
    return {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
    };
  }

  async function rotate(): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const id = `key-${++rotations}`;
    key = { id, privateKey, publicKey: { ...(await exportJWK(publicKey)), kid: id, alg: 'RS256', use: 'sig' } };
  }

  const issuer: TokenIssuer = {
    issuer: url,
    get keyReads() {
      return keyReads;
    },
    get publicKey() {
      return key.publicKey;
    },
    state: 'up',
    sign(claims, header = {}) {
      const now = Math.floor(Date.now() / 1_000);
      const standard = { iss: url, iat: now, exp: now + 300, scope: 'mcp:read', client_id: 'a-client' };
      const given = Object.entries({ ...standard, ...claims }).filter(([, value]) => value !== undefined);
      const all = { alg: 'RS256', typ: 'at+jwt', kid: key.id, ...header };
      return new SignJWT(Object.fromEntries(given)).setProtectedHeader(all).sign(key.privateKey);
    },
    rotate,
    async stop() {
      for (const res of held) res.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await rotate();
  return issuer;
}
