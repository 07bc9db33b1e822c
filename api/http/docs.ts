import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import express, { type RequestHandler, type Router } from 'express';
import { version } from '../../contract/index.ts';
import { docsPage, docsScript, docsStyle } from '../docs-page.ts';

const assets = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** What the page needs and nothing more: scripts and styles of its own, requests to this origin, and icons inside the style sheet. */
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

/** `/docs`: an interactive reference of the API. Everything comes from this process; nothing is asked of another origin. */
export function docsRoutes(): Router {
  const router = express.Router({ caseSensitive: true });
  const root = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  router.use('/docs', withPolicy);
  router.get('/docs', (_req, res) => void res.type('html').send(docsPage));
  router.get('/docs/start.js', (_req, res) => void res.type('js').send(docsScript));
  router.get('/docs/page.css', (_req, res) => void res.type('css').send(docsStyle));
  for (const name of assets) router.get(`/docs/${version}/${name}`, (_req, res) => res.sendFile(name, { root, cacheControl: false }));
  return router;
}

const withPolicy: RequestHandler = (req, res, next) => {
  res.setHeader('Content-Security-Policy', policy);
  // The path of what the package brings names a version: it may be kept.
  res.setHeader('Cache-Control', req.path.startsWith(`/${version}/`) ? 'public, max-age=86400' : 'no-cache');
  next();
};
