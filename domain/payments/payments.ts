import type { Logger } from 'pino';
import type Stripe from 'stripe';
import type { ServerConfig } from '../../base/config/server.ts';
import type { Db } from '../../db/connect.ts';
import { createGetPlan, type GetPlan } from '../billing/plan.ts';
import { createStripe } from './create-stripe.ts';
import { type SoldPlan, soldPlans } from './plans.ts';

/** The dependencies of all code that calls Stripe. */
export interface Payments {
  stripe: Stripe;
  plans: SoldPlan[];
  getPlan: GetPlan;
  db: Db;
  log: Logger;
  /** Verifies the events that Stripe sends. */
  webhookSecret: string;
  /** Whether the deployment sends mails. */
  sendsMail: boolean;
}

/** Undefined while billing is not configured. Connects to nothing. */
export function createPayments({ config, db, log }: { config: ServerConfig; db: Db; log: Logger }): Payments | undefined {
  const stripe = createStripe(config);
  if (!stripe) return undefined;
  const { webhookSecret = '' } = config.billing;
  return {
    ...{ stripe, db, log, webhookSecret },
    plans: soldPlans(config),
    getPlan: createGetPlan(config),
    sendsMail: config.email.provider !== 'none',
  };
}
