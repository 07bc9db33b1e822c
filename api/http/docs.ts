import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import express, { type RequestHandler, type Router } from 'express';
import { version } from '../../contract/index.ts';
import { buildOpenApi } from '../../contract/openapi.ts';
import { protectPage } from './browser-security.ts';

/** Serves the OpenAPI document, built when it is first asked for. A conditional request with its ETag gets 304. */
export function openApiDocument(options: { cookieName: string; extra: readonly string[] }): RequestHandler {
  let built: { body: Buffer; etag: string } | undefined;
  return (req, res) => {
    built ??= build(options);
    const { body, etag } = built;
    res.setHeader('Cache-Control', 'no-cache');
    res.setHeader('ETag', etag);
    if (matches(req.get('if-none-match'), etag)) return void res.status(304).end();
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.send(body);
  };
}

/** Takes a third of a second, which is more than a tenth of what the API needs to start. */
function build(options: { cookieName: string; extra: readonly string[] }): { body: Buffer; etag: string } {
  const body = Buffer.from(JSON.stringify(buildOpenApi(options)));
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
}

/** RFC 9110 §13.1.2. Express's `fresh` ignores the tags of a client that also sends `Cache-Control: no-cache`, as fetch does. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes('*') || tags.includes(etag);
}

/** `/docs`: an interactive reference of the API. The page loads nothing from another origin. */
export function docsRoutes(): Router {
  const router = express.Router({ caseSensitive: true });
  const root = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  router.use('/docs', withPolicy);
  router.get('/docs', (_req, res) => void res.type('html').send(page));
  router.get('/docs/start.js', (_req, res) => void res.type('js').send(script));
  router.get('/docs/page.css', (_req, res) => void res.type('css').send(style));
  for (const name of assets) router.get(`/docs/${version}/${name}`, (_req, res) => res.sendFile(name, { root, cacheControl: false }));
  return router;
}

const assets = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** Allows what the page needs: its own scripts and styles, requests to this origin, and the icons inside the style sheet. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const withPolicy: RequestHandler = (req, res, next) => {
  protectPage(res, policy);
  // The path of a file of Swagger UI names a version, so the file may be cached.
  res.setHeader('Cache-Control', req.path.startsWith(`/${version}/`) ? 'public, max-age=86400' : 'no-cache');
  next();
};

/** Scripts and styles are separate files, because the page's policy allows no inline ones. */
const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Sheaf API ${version}</title>
    <link rel="icon" type="image/png" href="/docs/${version}/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/${version}/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
  </head>
  <body>
    <nav><a href="/docs">API</a> <a href="/docs?definition=auth">Sign-in and organizations</a></nav>
    <main id="reference"><noscript>This page needs JavaScript. The description itself is at <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</noscript></main>
    <script src="/docs/${version}/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** Starts Swagger UI. `validatorUrl: null` keeps it from sending the document to a validator elsewhere. */
const script = `const isAuth = new URLSearchParams(location.search).get('definition') === 'auth';
SwaggerUIBundle({
  url: isAuth ? '/api/auth/openapi.json' : '/api/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

const style = `body { margin: 0; }
nav { padding: 0.75rem 20px; font-family: sans-serif; }
nav a { margin-right: 1.5rem; }
`;
