import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the payment provider would answer, as far as the service asks it: subscriptions by id, their cancellation, new customers and checkouts. */
export interface StripeServer {
  url: string;
  subscriptions: Map<string, Record<string, unknown>>;
  /** Everything asked, as `POST /v1/customers name=Acme…`. */
  requests: string[];
  available: boolean;
  /** Awaited before a subscription is answered. */
  beforeAnswer?: (() => Promise<void>) | undefined;
  stop(): Promise<void>;
}

export async function startStripeServer(): Promise<StripeServer> {
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    const path = (req.url ?? '').split('?')[0] ?? '';
    stripe.requests.push(`${req.method} ${path} ${decodeURIComponent(body)}`.trim());
    const [status, answer] = stripe.available
      ? answerTo(`${req.method} ${path}`)
      : [500, { error: { message: 'down', type: 'api_error' } }];
    if (path.startsWith('/v1/subscriptions/')) await stripe.beforeAnswer?.();
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });

  function answerTo(asked: string): [number, unknown] {
    const [, id] = /^GET \/v1\/subscriptions\/(\w+)$/.exec(asked) ?? [];
    if (id) {
      const found = stripe.subscriptions.get(id);
      return found
        ? [200, found]
        : [404, { error: { code: 'resource_missing', message: 'No such subscription', type: 'invalid_request_error' } }];
    }
    const [, method, changed] = /^(POST|DELETE) \/v1\/subscriptions\/(\w+)$/.exec(asked) ?? [];
    if (changed) return cancel(changed, method === 'DELETE');
    if (asked === 'POST /v1/customers') return [200, { id: `cus_${stripe.requests.length}`, object: 'customer' }];
    if (asked === 'POST /v1/checkout/sessions')
      return [200, { id: 'cs_1', object: 'checkout.session', url: 'https://checkout.example/cs_1' }];
    if (asked === 'POST /v1/billing_portal/sessions')
      return [200, { id: 'bps_1', object: 'billing_portal.session', url: 'https://billing.example/bps_1' }];
    if (asked.startsWith('GET /v1/prices/'))
      return [200, { id: asked.split('/').pop(), object: 'price', recurring: { usage_type: 'licensed' } }];
    if (/^GET \/v1\/(customers|subscriptions)/.test(asked)) return [200, { object: 'list', data: [], has_more: false }];
    return [404, { error: { message: `Nothing answers ${asked}`, type: 'invalid_request_error' } }];
  }

  /** As Stripe does: at the period's end or at once; one that has ended is as good as gone. */
  function cancel(id: string, immediately: boolean): [number, unknown] {
    const found = stripe.subscriptions.get(id);
    if (!found || found.status === 'canceled')
      return [404, { error: { code: 'resource_missing', message: 'No such subscription', type: 'invalid_request_error' } }];
    const canceled = {
      ...found,
      ...(immediately ? { status: 'canceled', ended_at: Math.floor(Date.now() / 1000) } : { cancel_at_period_end: true }),
    };
    stripe.subscriptions.set(id, canceled);
    return [200, canceled];
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stripe: StripeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    subscriptions: new Map(),
    requests: [],
    available: true,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return stripe;
}

/** A subscription as Stripe shows it, of one item that ends in 30 days. */
export function subscriptionOf(id: string, values: { customer: string; price: string; status: string; metadata?: Record<string, string> }) {
  const now = Math.floor(Date.now() / 1000);
  const { price, ...rest } = values;
  return {
    id,
    object: 'subscription',
    cancel_at_period_end: false,
    metadata: {},
    items: {
      data: [
        {
          id: `si_${id}`,
          quantity: 1,
          price: { id: price, recurring: { interval: 'month' } },
          current_period_start: now,
          current_period_end: now + 30 * 86_400,
        },
      ],
    },
    ...rest,
  };
}
