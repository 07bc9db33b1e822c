import Stripe from 'stripe';
import type { ServerConfig } from '../../base/config/server.ts';
import { traceStripe } from './trace-stripe.ts';

/** The client of the payment provider; undefined while billing is not configured. `STRIPE_API_BASE` names another host, for emulators. */
export function createStripe({ billing }: ServerConfig): Stripe | undefined {
  if (!billing.enabled || !billing.secretKey) return undefined;
  const base = billing.apiBase && new URL(billing.apiBase);
  return new Stripe(billing.secretKey, {
    maxNetworkRetries: 2,
    timeout: 20_000,
    telemetry: false,
    httpClient: traceStripe(Stripe.createNodeHttpClient()),
    ...(base && {
      protocol: base.protocol === 'http:' ? 'http' : 'https',
      host: base.hostname,
      port: base.port || (base.protocol === 'http:' ? '80' : '443'),
    }),
  });
}
