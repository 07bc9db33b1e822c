import type Stripe from 'stripe';
import { beginSpan } from '../../base/telemetry/spans.ts';

/** The same HTTP client, with a span for each request that is part of a trace, without ids, query and contents. */
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
        // Stripe's dashboard finds the request by this id.
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

/** A path with `{id}` instead of each id: `/v1/customers/{id}`. Stripe's own names are lower case. */
function routeOf(path: string): string {
  const [pathname = ''] = path.split('?');
  return pathname.replaceAll(/[^/]+/g, (segment) => (/^(?:v\d|[a-z]+(?:_[a-z]+)*)$/.test(segment) ? segment : '{id}'));
}
