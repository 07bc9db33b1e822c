import type { Request, Response } from 'express';
import type { AnyRoute } from '../contract/route.ts';
import type { Caller } from './caller.ts';
import type { ApiDeps } from './deps.ts';
import { admit } from './procedure.ts';

/**
 * Finds who calls a route, and refuses who may not call it at all. A session that this request extended sends its
 * cookie again. A public route asks nobody.
 */
export async function authenticate(deps: ApiDeps, route: AnyRoute, req: Request, res: Response): Promise<Caller | undefined> {
  const caller = route.metadata.access === 'public' ? undefined : await deps.authentication.findCaller(req.headers);
  admit(route, caller);
  if (caller?.refreshedCookie !== undefined) res.append('Set-Cookie', caller.refreshedCookie);
  return caller;
}
