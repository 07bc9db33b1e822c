import type { Request, Response } from 'express';
import type { AnyRoute } from '../../contract/route.ts';
import { type Authentication, authenticate } from '../caller.ts';

/** How long the rights of a caller count after they were looked up. */
const freshMs = 1_000;

/**
 * Notes who calls a route, as {@link authenticate} says. Call it before the body is read, because a caller without permission has nothing to
 * send; and again afterwards, because a body may take half a minute, in which its sender may lose the session or leave the organization.
 */
export async function noteCaller(authentication: Authentication, route: AnyRoute, req: Request, res: Response): Promise<void> {
  const { callerNotedAt = -Infinity } = res.locals as { callerNotedAt?: number };
  // When the lookup began: what it read may have changed while it went on.
  const now = performance.now();
  if (now - callerNotedAt < freshMs) return;
  res.locals.caller = await authenticate(authentication, route, req, res);
  res.locals.callerNotedAt = now;
}
