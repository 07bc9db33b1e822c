import type { RequestHandler, Response } from 'express';
import { routes } from '../contract/index.ts';
import type { AnyRoute } from '../contract/route.ts';

const restRoutes = routes.map((route) => ({ route, path: new RegExp(`^/api/v1${route.path.replaceAll(/:\w+/g, '[^/]+')}$`) }));
const rpcRoutes = new Map(routes.map((route) => [`/rpc/${route.metadata.operation.replaceAll('.', '/')}`, route]));

/**
 * Notes which route a request means, before any part can refuse it: what an error says of itself (`defined`) depends on the
 * operation, whether or not the request gets that far.
 */
export const identifyRoute: RequestHandler = (req, res, next) => {
  const [path = ''] = req.originalUrl.split('?');
  res.locals.route = path.startsWith('/rpc/') ? findRpcRoute(req.method, path) : findRestRoute(req.method, path);
  next();
};

/** The route that {@link identifyRoute} noted; undefined where the contract has nothing at the path. */
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
