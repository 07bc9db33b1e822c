import type { RequestHandler } from 'express';

/**
 * Closes the connection of a client that has not read its whole response `readMs` after it was written, since the rest, at most a page of 4
 * MiB, takes up memory. Streams are not affected, because they are never completely written.
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
