import type { Request } from 'express';

/** The query string as it was sent, whatever parser the application has. */
export function queryOf(req: Request): URLSearchParams {
  return new URL(req.originalUrl, 'http://localhost').searchParams;
}
