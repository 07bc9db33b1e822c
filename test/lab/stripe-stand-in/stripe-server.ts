import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseForm } from './parse-form.ts';
import { type StripeAnswer, type StripeEvent, StripeState } from './stripe-state.ts';

export type { StripeEvent };

/** A stand-in of the payment provider that keeps state, as far as the service asks for it. `state` says what is there and moves its time. */
export interface StripeServer {
  url: string;
  state: StripeState;
  /** The subscriptions of `state`; a test may put any of its own there. */
  subscriptions: StripeState['subscriptions'];
  /** Everything asked, as `POST /v1/customers name=Acme…`. */
  requests: string[];
  available: boolean;
  /** Stripe fails while it works on such a request, as in `requests`. Unlike `available`, that is the answer to the request's key from then on. */
  failing?: ((request: string) => boolean) | undefined;
  /** Awaited before a subscription is answered. */
  beforeAnswer?: (() => Promise<void>) | undefined;
  /**
   * Awaited when a request, as in `requests`, has arrived and when its work is done; `gone` resolves when its client is gone. A request
   * whose client is gone by then is not worked on, and not answered.
   */
  hold?: ((request: string, moment: 'arrived' | 'done', gone: Promise<void>) => Promise<void> | undefined) | undefined;
  /** Where each request is checked before it is answered: a stripe-mock. What it refuses stands in `invalid`. */
  validator?: string | undefined;
  invalid: string[];
  /** How many requests the validator has taken. */
  validated: number;
  stop(): Promise<void>;
}

const down = { status: 500, body: { error: { message: 'down', type: 'api_error' } } };
const misused = {
  status: 400,
  body: { error: { message: 'Keys for idempotent requests can only be used with the same parameters.', type: 'idempotency_error' } },
};

export async function startStripeServer(): Promise<StripeServer> {
  const state = new StripeState();
  const repeated = new Map<string, { form: string; answer: StripeAnswer }>();
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    const [path = '', query = ''] = (req.url ?? '').split('?');
    const method = req.method ?? '';
    const request = `${method} ${path} ${decodeURIComponent(body || query)}`.trim();
    stripe.requests.push(request);
    if (stripe.validator) await validate(stripe.validator, method, req.url ?? '', body);
    const gone = new Promise<void>((resolve) => res.once('close', resolve));
    await stripe.hold?.(request, 'arrived', gone);
    if (res.destroyed) return;
    const answer = stripe.available ? work(request, body || query, [req.headers['idempotency-key']].flat()[0]) : down;
    // What was true when it was asked is told, however long the answer takes.
    const text = JSON.stringify(answer.body);
    await stripe.hold?.(request, 'done', gone);
    if (path.startsWith('/v1/subscriptions/')) await stripe.beforeAnswer?.();
    res.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  });

  /** A request with the key of an earlier one gets the answer to that one, also if that is a failure. */
  function work(request: string, form: string, key: string | undefined): StripeAnswer {
    const [method = '', path = ''] = request.split(' ');
    const before = key === undefined ? undefined : repeated.get(`${method} ${path} ${key}`);
    if (before) return before.form === form ? before.answer : misused;
    const answer = stripe.failing?.(request) ? down : state.answer(method, path, parseForm(form));
    if (key !== undefined) repeated.set(`${method} ${path} ${key}`, { form, answer: structuredClone(answer) });
    return answer;
  }

  async function validate(validator: string, method: string, url: string, body: string): Promise<void> {
    const answer = await fetch(`${validator}${url}`, {
      method,
      headers: { authorization: 'Bearer sk_test_123', 'content-type': 'application/x-www-form-urlencoded' },
      ...(body ? { body } : {}),
    });
    const text = await answer.text();
    if (answer.ok) stripe.validated++;
    else stripe.invalid.push(`${method} ${url} ${decodeURIComponent(body)}: ${text}`);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stripe: StripeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    subscriptions: state.subscriptions,
    requests: [],
    available: true,
    invalid: [],
    validated: 0,
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
    metadata: {} as Record<string, string>,
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
