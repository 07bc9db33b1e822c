import type { ServerConfig } from '../config/server.ts';
import type { Payments } from '../payments/payments.ts';

/** The dependencies of the subscription endpoints. */
export interface BillingContext {
  config: ServerConfig;
  payments: Payments;
}
