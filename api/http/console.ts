import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import express, { type RequestHandler, type Response, type Router } from 'express';
import { objectKey } from '../../adapters/storage/object-key.ts';
import type { Storage } from '../../adapters/storage/port.ts';
import { version } from '../../contract/index.ts';
import { protectPage } from './browser-security.ts';

/** The placeholder of the build for the nonce of a response. */
const noncePlaceholder = '__NONCE__';

/** Paths that are never the console's, whatever a browser accepts. */
const elsewhere = /^\/(api|rpc|mcp|docs|uploads|assets|healthz|readyz|metrics|\.well-known)(\/|$)/;

/** How the build has compressed its files, and how it names them. Browsers ask for `br` by TLS and on their own machine only. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/**
 * `/assets/<path>`: the files of the console's build. A path holds the hash or the version of what it names, so they never change. Everybody
 * may read them: the frame of PDFs has no origin.
 */
export function consoleAssets(directory: string): Router {
  const router = express.Router({ caseSensitive: true });
  const root = join(directory, 'assets');
  router.get('/assets/*path', (req, res, next) => {
    const parts: string[] = req.params.path;
    const name = parts.join('/');
    const isThere =
      parts.every((part) => /^\w[\w.-]{0,200}$/.test(part)) && statSync(join(root, name), { throwIfNoEntry: false })?.isFile();
    if (!isThere) return next();
    const packed = encodings.find(([encoding, end]) => req.acceptsEncodings(encoding) && existsSync(join(root, name + end)));
    res.vary('Accept-Encoding').type(name.slice(name.lastIndexOf('.')));
    res.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
    res.setHeader('Access-Control-Allow-Origin', '*');
    res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    if (packed) res.setHeader('Content-Encoding', packed[0]);
    res.sendFile(packed ? name + packed[1] : name, { root, cacheControl: false });
  });
  return router;
}

interface ConsoleOptions {
  /** Where the build is, or will be: `index.html` and `assets/`. */
  directory: string;
  apiUrl: string;
  /** The store. The page uploads to its signed links, and loads originals from them. */
  storage: Storage;
}

/**
 * Serves the console's page at every path that nothing else serves, if the client asks for HTML: the script reads the path. Until the build
 * is there, serves a page that says so and reloads itself.
 */
export function consolePage({ directory, apiUrl, storage }: ConsoleOptions): RequestHandler {
  const file = join(directory, 'index.html');
  const findUploadOrigin = createUploadOrigin(storage);
  let html: string | undefined;
  return async (req, res, next) => {
    res.vary('Accept');
    const asksForPage = (req.method === 'GET' || req.method === 'HEAD') && req.accepts(['json', 'html']) === 'html';
    if (!asksForPage || elsewhere.test(req.path)) return next();
    html ??= existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    if (html === undefined) return showUnfinished(res);
    const nonce = randomBytes(16).toString('base64');
    const origins = [new URL(apiUrl).origin, await findUploadOrigin()];
    protectPage(res, policy(nonce, origins));
    res.type('html').send(html.replaceAll(noncePlaceholder, nonce));
  };
}

/** Finds the origin to which the storage's signed targets lead; undefined while it cannot sign. */
function createUploadOrigin(storage: Storage): () => Promise<string | undefined> {
  const nobody = '00000000-0000-0000-0000-000000000000';
  let origin: string | undefined;
  return async () => {
    if (origin !== undefined) return origin;
    const target = storage.signUpload({ key: objectKey(nobody, nobody), contentType: 'text/plain', sizeBytes: 1 });
    origin = await target.then(({ url }) => new URL(url).origin).catch(() => undefined);
    return origin;
  };
}

/** Scripts are files of this origin. The nonce is for the styles that the components make. */
function policy(nonce: string, origins: (string | undefined)[]): string {
  const stores = [...new Set(origins)].filter((each) => each !== undefined);
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    ["img-src 'self' data:", ...stores].join(' '),
    "frame-src 'self'",
    "font-src 'self'",
    ["connect-src 'self'", ...stores].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function showUnfinished(res: Response): void {
  res.status(503).setHeader('Retry-After', '2').setHeader('Refresh', '2').type('html').send(unfinished);
}

const unfinished = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Sheaf</title>
  </head>
  <body>
    <h1>Sheaf</h1>
    <p>The console is being built, which takes some seconds. This page looks again by itself.</p>
    <p>The API, version ${version}, is up: see <a href="/docs">its reference</a>. If the console does not come, run
      <code>npm run build --workspace clients/web</code>, or see the log of the start.</p>
  </body>
</html>
`;
