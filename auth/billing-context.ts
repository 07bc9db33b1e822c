import type { ServerConfig } from '../config/server.ts';
import type { Payments } from '../payments/payments.ts';

/** What the endpoints of subscriptions work with. */
export interface BillingContext {
  config: ServerConfig;
  payments: Payments;
}
