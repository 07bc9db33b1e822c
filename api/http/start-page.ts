import { createHash } from 'node:crypto';
import express, { type Router } from 'express';
import { version } from '../../contract/index.ts';

/**
 * `GET /`: a page for a browser that comes without an application: by the link of a mail, by a sign-in with a provider that failed
 * (`?error=` and its code), or because somebody wanted to see what listens here. It needs no session and shows no data. Who does not
 * ask for HTML gets NOT_FOUND, as at any path that nothing serves.
 */
export function startPage(): Router {
  const router = express.Router({ caseSensitive: true });
  router.get('/', (req, res, next) => {
    res.vary('Accept');
    if (req.accepts(['json', 'html']) !== 'html') return next();
    res.setHeader('Content-Security-Policy', policy);
    res.type('html').send(renderPage(codeOf(req.query.error)));
  });
  return router;
}

/** What may be a code. Anything else in the query is somebody else's text, and is not shown. */
function codeOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  return typeof error === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(error) ? error : 'UNKNOWN';
}

const style =
  ':root { color-scheme: light dark; } body { max-width: 40rem; margin: 4rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }';

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function renderPage(code: string | undefined): string {
  const message =
    code === undefined
      ? 'If the link of a mail brought you here, it has done its work. Go back to the application that you use.'
      : `This did not work: <code>${code}</code>. Go back to the application that you use, and try again from there.`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Sheaf</title>
    <link rel="icon" href="data:,">
    <style>${style}</style>
  </head>
  <body>
    <h1>Sheaf</h1>
    <p>${message}</p>
    <p>This is an API, version ${version}, and has no pages of its own but <a href="/docs">its reference</a>.</p>
  </body>
</html>
`;
}
