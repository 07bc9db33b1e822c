import type { RequestHandler, Response } from 'express';
import { clientAddressOf, organizationOf } from '../http/request.ts';

export interface SlowReadersOptions {
  /** How long a client may take to read a response after it was written, in milliseconds. */
  readMs?: number;
  /** The maximum size of all responses of one organization that were written and not read; of one address outside of organizations. */
  maxUnreadBytes?: number;
}

/**
 * Bounds the memory for responses that clients read slowly: closes the connection of one that takes too long, and of the slowest ones of an
 * organization while too much is unread. Streams are not affected, because they are never completely written.
 */
export function dropSlowReaders({ readMs = 60_000, maxUnreadBytes = 64 * 1024 * 1024 }: SlowReadersOptions = {}): RequestHandler {
  const unread = new Set<Response>();
  return (_req, res, next) => {
    res.once('prefinish', () => {
      unread.add(res);
      const late = setTimeout(() => res.destroy(), readMs).unref();
      res.once('close', () => {
        unread.delete(res);
        clearTimeout(late);
      });
      dropSlowest(ownerOf(res));
    });
    next();
  };

  /** A set keeps the order of insertion, so the slowest responses come first. */
  function dropSlowest(owner: string): void {
    const own = [...unread].filter((each) => ownerOf(each) === owner);
    let bytes = own.reduce((sum, { writableLength }) => sum + writableLength, 0);
    for (const slowest of own) {
      if (bytes <= maxUnreadBytes) return;
      bytes -= slowest.writableLength;
      slowest.destroy();
    }
  }
}

function ownerOf(res: Response): string {
  return organizationOf(res) ?? clientAddressOf(res);
}
