import type { Request, Response } from 'express';
import type { AnyRoute } from '../../contract/route.ts';
import { type Authentication, authenticate } from '../caller.ts';

/** How long a caller's rights may be used after they were read. */
const freshMs = 1_000;

/**
 * Records the caller of a route with {@link authenticate}. Call it before the body is read, so that a caller without permission sends
 * nothing, and again afterwards: a body may take half a minute, in which its sender may lose the session or the membership.
 */
export async function noteCaller(authentication: Authentication, route: AnyRoute, req: Request, res: Response): Promise<void> {
  const { callerNotedAt = -Infinity } = res.locals as { callerNotedAt?: number };
  // The beginning of the look-up, since the rows that it read may change before it ends.
  const now = performance.now();
  if (now - callerNotedAt < freshMs) return;
  res.locals.caller = await authenticate(authentication, route, req, res);
  res.locals.callerNotedAt = now;
}
