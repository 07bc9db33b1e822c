import type Stripe from 'stripe';
import { beginSpan } from '../telemetry/spans.ts';

/** The same client of HTTP. Each request that is a part of a trace is a span, without ids in its name, without its query and its contents. */
export function traceStripe(client: Stripe.HttpClient): Stripe.HttpClient {
  return {
    getClientName: () => client.getClientName(),
    async makeRequest(...request) {
      const [, , path, method] = request;
      const route = routeOf(path);
      const attributes = { 'http.request.method': method, 'url.template': route };
      const span = beginSpan(`Stripe ${method} ${route}`, { kind: 'client', attributes });
      if (!span) return await client.makeRequest(...request);
      try {
        const response = await span.run(() => client.makeRequest(...request));
        const status = response.getStatusCode();
        const requestId = response.getHeaders()['request-id'];
        // By it Stripe's dashboard finds the request.
        span.note({ 'http.response.status_code': status, 'stripe.request_id': requestId?.toString() });
        if (status >= 400) span.fail({ code: String(status) });
        else span.end();
        return response;
      } catch (error) {
        span.fail(error);
        throw error;
      }
    },
  };
}

/** A path with `{id}` in the place of each id: `/v1/customers/{id}`. What Stripe names itself are small letters. */
function routeOf(path: string): string {
  const [pathname = ''] = path.split('?');
  return pathname.replaceAll(/[^/]+/g, (segment) => (/^(?:v\d|[a-z]+(?:_[a-z]+)*)$/.test(segment) ? segment : '{id}'));
}
