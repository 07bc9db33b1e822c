import { createHash } from 'node:crypto';
import express, { type Response, type Router } from 'express';
import { escapeHtml } from '../../base/text/escape-html.ts';
import { version } from '../../contract/index.ts';
import { protectPage } from './browser-security.ts';

/**
 * Pages for a browser if there is no web application: `/`, and `/reset-password` and `/accept-invitation/<id>`, to which links of mails
 * lead and which say by which request to go on. `?error=` has the code of a failure. They need no session and show no data. A client that
 * does not ask for HTML gets NOT_FOUND.
 */
export function startPages({ apiUrl }: { apiUrl: string }): Router {
  const router = express.Router({ caseSensitive: true });
  const show = (res: Response, content: string) => {
    protectPage(res, policy);
    res.type('html').send(renderPage(content));
  };
  router.get(['/', '/reset-password', '/accept-invitation/:id'], (req, res, next) => {
    res.vary('Accept');
    next(req.accepts(['json', 'html']) === 'html' ? undefined : 'router');
  });
  router.get('/', (req, res) => show(res, renderStart(codeOf(req.query.error))));
  router.get('/reset-password', ({ query }, res) => {
    const token = idOf(query.token);
    show(res, query.error !== undefined || !token ? renderLost(codeOf(query.error) ?? 'INVALID_TOKEN') : renderReset(apiUrl, token));
  });
  router.get('/accept-invitation/:id', ({ params }, res, next) => {
    const id = idOf(params.id);
    if (id === undefined) return next();
    show(res, renderInvitation(apiUrl, id));
  });
  return router;
}

/** A text that may be an id or a token. Nothing else of a request gets into a page. */
function idOf(text: unknown): string | undefined {
  return typeof text === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(text) ? text : undefined;
}

/** A text that may be a code. Anything else in the query is somebody else's text, and is not shown. */
function codeOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  return idOf(error) ?? 'UNKNOWN';
}

const style =
  ':root { color-scheme: light dark; } body { max-width: 40rem; margin: 4rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; } pre { overflow-x: auto; }';

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

function renderStart(code: string | undefined): string {
  return code === undefined
    ? '<p>If the link of a mail brought you here, it has done its work. Go back to the application that you use.</p>'
    : `<p>This did not work: <code>${code}</code>. Go back to the application that you use, and try again from there.</p>`;
}

function renderLost(code: string): string {
  return `<p>This link does not work, or no longer: <code>${code}</code>. Ask for another mail, and open its link within an hour.</p>`;
}

function renderReset(apiUrl: string, token: string): string {
  return `<p>Send your new password, of 8 to 128 characters, with the token that your mail has brought here:</p>
    <pre>${escapeHtml(`curl -sS ${apiUrl}/api/auth/reset-password \\
  -H 'Content-Type: application/json' \\
  -d '{"token":"${token}","newPassword":"a new password"}'`)}</pre>
    <p>It works once, within an hour of asking for the mail, and ends all your sessions. Then sign in with the new password.</p>`;
}

function renderInvitation(apiUrl: string, id: string): string {
  return `<p>You are invited to an organization. Sign in with the address that the mail was sent to, or sign up with it first
      (<a href="/docs">the reference</a> says how), and accept with the token that signing in returned:</p>
    <pre>${escapeHtml(`curl -sS ${apiUrl}/api/auth/organization/accept-invitation \\
  -H 'Content-Type: application/json' -H "Authorization: Bearer $TOKEN" \\
  -d '{"invitationId":"${id}"}'`)}</pre>
    <p>The invitation is good for 48 hours. If you do not want to join, do nothing.</p>`;
}

function renderPage(content: string): string {
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
    ${content}
    <p>This is an API, version ${version}, and has no pages of its own but <a href="/docs">its reference</a>.</p>
  </body>
</html>
`;
}
