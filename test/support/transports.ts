import { routes } from '../../contract/index.ts';
import type { AnyRoute } from '../../contract/route.ts';
import type { Answer, RequestOptions, TestApi } from './api.ts';

export const transports = ['REST', 'RPC'] as const;
export type Transport = (typeof transports)[number];

/**
 * Calls an operation with one input over either transport, and returns its result or its error envelope alike. Over REST the
 * input goes where the contract puts each field: path, query or body.
 */
export async function callOver<T = any>(
  api: TestApi,
  transport: Transport,
  operation: string,
  input: Record<string, unknown> = {},
  options: RequestOptions = {},
): Promise<Answer<T>> {
  const route = routes.find(({ metadata }) => metadata.operation === operation);
  if (!route) throw new Error(`the contract has no ${operation}`);
  if (transport === 'REST') return api.request(route.method, ...restRequest(route, input, options));
  const answer = await api.rpc(operation, input, options);
  return { ...answer, body: answer.body.json };
}

function restRequest(route: AnyRoute, input: Record<string, unknown>, options: RequestOptions): [string, RequestOptions] {
  const rest = new Map(Object.entries(input));
  const take = (name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return value;
  };
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(take(name))));
  const query = new URLSearchParams();
  for (const name of Object.keys(route.query?.shape ?? {})) {
    const value = take(name);
    for (const one of [value].flat()) if (one !== undefined) query.append(name, String(one));
  }
  const search = query.size > 0 ? `?${query}` : '';
  return [`/api/v1${path}${search}`, route.body && rest.size > 0 ? { ...options, body: Object.fromEntries(rest) } : options];
}
