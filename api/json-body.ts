import express, { type RequestHandler } from 'express';

/** The largest body of `/api/v1/*` and `/rpc/*`, in bytes (spec §8). */
const maxBodyBytes = 1024 * 1024;

/** Parses a JSON body of at most 1 MiB; `anyType` parses whatever its Content-Type says. */
export function jsonBody({ anyType }: { anyType: boolean }): RequestHandler {
  return express.json({ limit: maxBodyBytes, ...(anyType ? { type: () => true } : {}) });
}
