import type { RequestHandler } from 'express';

/**
 * Closes the connection of a client that has not taken the whole of its response `readMs` after it was written: what is left of it, at most
 * a page of 4 MiB, takes up memory until then. Does not touch streams, which are never written to their end.
 */
export function dropSlowReaders(readMs = 60_000): RequestHandler {
  return (_req, res, next) => {
    res.once('prefinish', () => {
      const unread = setTimeout(() => res.destroy(), readMs).unref();
      res.once('close', () => clearTimeout(unread));
    });
    next();
  };
}
