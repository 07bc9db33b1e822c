import type { RequestHandler } from 'express';

/** What GET /health reports: one sentence in `problems` for each reason why the configuration cannot serve. */
export interface Health {
  ok: boolean;
  provider: 'local' | 'remote';
  ocr: 'local' | 'remote' | 'none';
  auth: 'token' | 'disabled';
  problems: string[];
}

/** GET /health: always 200, open to everyone, with no secret in it. */
export function healthRoute(read: () => Health): RequestHandler {
  return (_request, response) => {
    response.json(read());
  };
}
