import type { RequestHandler, Response } from 'express';
import { routes } from '../../contract/index.ts';
import type { AnyRoute } from '../../contract/route.ts';

const restRoutes = routes.map((route) => ({ route, path: new RegExp(`^/api/v1${route.path.replaceAll(/:\w+/g, '[^/]+')}$`) }));
const rpcRoutes = new Map(routes.map((route) => [`/rpc/${route.metadata.operation.replaceAll('.', '/')}`, route]));

/** Records the route of a request before anything can refuse it, since whether an error is `defined` depends on the operation. */
export const identifyRoute: RequestHandler = (req, res, next) => {
  const [path = ''] = req.originalUrl.split('?');
  res.locals.route = path.startsWith('/rpc/') ? findRpcRoute(req.method, path) : findRestRoute(req.method, path);
  next();
};

/** The route that {@link identifyRoute} recorded; undefined if the contract has none at the path. */
export function routeOf(res: Response): AnyRoute | undefined {
  return res.locals.route as AnyRoute | undefined;
}

function findRestRoute(method: string, path: string): AnyRoute | undefined {
  const wanted = method === 'HEAD' ? 'GET' : method;
  return restRoutes.find(({ route, path: pattern }) => route.method === wanted && pattern.test(path))?.route;
}

function findRpcRoute(method: string, path: string): AnyRoute | undefined {
  return method === 'POST' ? rpcRoutes.get(path) : undefined;
}
