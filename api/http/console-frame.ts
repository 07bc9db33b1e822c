import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import express, { type Router } from 'express';
import { protectPage } from './browser-security.ts';

interface FrameOptions {
  /** Where the build of the console is, or will be. */
  directory: string;
  apiUrl: string;
}

/**
 * `/original.html`: the frame in which the console draws a PDF. It has no origin, and so neither session nor storage; its policy lets it load
 * files of the build, and reach nothing else.
 */
export function originalFrame({ directory, apiUrl }: FrameOptions): Router {
  const router = express.Router({ caseSensitive: true });
  const file = join(directory, 'original.html');
  const contentPolicy = policy(new URL('/assets/', apiUrl).href);
  const sendFrame: RequestHandler = (_req, res, next) => {
    if (!existsSync(file)) return next();
    protectPage(res, contentPolicy);
    res.type('html').send(readFileSync(file, 'utf8'));
  };
  router.get('/original.html', sendFrame);
  return router;
}

/** The worker is a blob that imports a file. Decoders of pictures are WebAssembly. */
function policy(files: string): string {
  return [
    'sandbox allow-scripts',
    "default-src 'none'",
    `script-src ${files} 'wasm-unsafe-eval'`,
    'worker-src blob:',
    `style-src ${files}`,
    `connect-src ${files}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; ');
}
