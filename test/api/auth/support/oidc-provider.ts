import { createHash, generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Profile {
  sub: string;
  email: string;
  /** Some providers send a text, or nothing. */
  email_verified?: unknown;
  name?: string;
  /** Whatever else it claims. */
  [claim: string]: unknown;
}

/** A small OpenID Connect provider, which signs in whoever `profile` says. */
export interface OidcProvider {
  issuer: string;
  profile: Profile;
  /** Answers of discovery, so far. */
  discoveries: number;
  available: boolean;
  /** Fields of its discovery document in place of its own. */
  discovery: Record<string, unknown>;
  /** A path that never responds. */
  silent: string | undefined;
  /** An ID token of whoever `profile` says, as an app gets it. */
  issueIdToken(nonce: string | null): string;
  stop(): Promise<void>;
}

/** Starts a provider on a free port, for one client with that id and secret; checks PKCE and the client's secret. */
export async function startOidcProvider(client: { id: string; secret: string }): Promise<OidcProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key: JsonWebKey = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' };
  const codes = new Map<string, { challenge: string; nonce: string | null }>();
  const server = createServer(async (req, res) => {
    const url = new URL(req.url ?? '/', provider.issuer);
    const json = (status: number, body: unknown) => res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (!provider.available) return json(503, {});
    if (url.pathname === provider.silent) return;
    if (url.pathname === '/.well-known/openid-configuration') {
      provider.discoveries++;
      return json(200, {
        issuer: provider.issuer,
        authorization_endpoint: `${provider.issuer}/authorize`,
        token_endpoint: `${provider.issuer}/token`,
        userinfo_endpoint: `${provider.issuer}/userinfo`,
        jwks_uri: `${provider.issuer}/keys`,
        id_token_signing_alg_values_supported: ['RS256'],
        ...provider.discovery,
      });
    }
    if (url.pathname === '/keys') return json(200, { keys: [key] });
    if (url.pathname === '/authorize') {
      const code = `code-${codes.size}`;
      codes.set(code, { challenge: url.searchParams.get('code_challenge') ?? '', nonce: url.searchParams.get('nonce') });
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      return res.writeHead(302, { location: back.href }).end();
    }
    let body = '';
    for await (const chunk of req) body += chunk;
    const form = new URLSearchParams(body);
    if (form.get('grant_type') === 'refresh_token')
      return json(200, { access_token: 'the-next-access-token', token_type: 'Bearer', expires_in: 60 });
    const begun = codes.get(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!begun || begun.challenge !== challenge || form.get('client_secret') !== client.secret)
      return json(400, { error: 'invalid_grant' });
    const id_token = provider.issueIdToken(begun.nonce);
    return json(200, { access_token: 'an-access-token', token_type: 'Bearer', expires_in: 60, id_token });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const provider: OidcProvider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    profile: { sub: 'nobody', email: 'nobody@example.com', email_verified: true },
    discoveries: 0,
    available: true,
    discovery: {},
    silent: undefined,
    issueIdToken: (nonce) => {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: provider.issuer, aud: client.id, iat: now, exp: now + 60, nonce, ...provider.profile };
      const parts = [{ alg: 'RS256', kid: 'k1' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
      const signature = sign('sha256', Buffer.from(parts.join('.')), privateKey).toString('base64url');
      return [...parts, signature].join('.');
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return provider;
}
