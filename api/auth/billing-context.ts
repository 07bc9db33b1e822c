import type { ServerConfig } from '../../base/config/server.ts';
import type { Payments } from '../../domain/payments/payments.ts';

/** The dependencies of the subscription endpoints. */
export interface BillingContext {
  config: ServerConfig;
  payments: Payments;
}
