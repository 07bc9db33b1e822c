import { join } from 'node:path';
import { inheritedEnvironment, type LocalConfig, loadLocalConfig, nothingOutside } from '../../../base/config/local.ts';
import { changeVariables } from '../../../base/config/secret-files.ts';
import { createClient } from '../../../clients/typescript/index.ts';
import { startLocalService } from '../../../ops/local/local-service.ts';
import { type SentEvent, sendEvents } from '../../../test/lab/stripe-stand-in/send-events.ts';
import { type StripeServer, startStripeServer } from '../../../test/lab/stripe-stand-in/stripe-server.ts';
import type { Screen } from './screen.ts';
import { watchCrashes } from './watch-crashes.ts';

/** A service with billing on, and the stand-in of Stripe that it takes for Stripe. */
export interface BillingService {
  url: string;
  version: string;
  stripe: StripeServer;
  /** Waits until the events so far were taken, and tells of those that were not told of before. */
  sentEvents(): Promise<SentEvent[]>;
  /** Aborts if the user stops the demo, or if a part of the service crashes. */
  signal: AbortSignal;
  stop(): Promise<void>;
}

const webhookSecret = 'whsec_demo';

/** Plans so small that they are soon used up. */
const variables = {
  STRIPE_SECRET_KEY: 'sk_test_demo',
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_PRICE_PRO: 'price_pro',
  STRIPE_PRICE_TEAM: 'price_team',
  STRIPE_SEAT_PRICE_TEAM: 'price_seat',
  PLANS: '{"free":{"aiCredits":5},"pro":{"aiCredits":15}}',
  REQUIRE_EMAIL_VERIFICATION: 'false',
};

/**
 * Starts a service for the demo alone, on free ports and data of its own: one that runs here already has other plans, and perhaps a real
 * Stripe. Throws an error for the user if it does not start; then nothing keeps running.
 */
export async function startBillingService(screen: Screen, abort: AbortSignal): Promise<BillingService> {
  const stripe = await startStripeServer();
  try {
    const local = ownConfig(stripe.url);
    screen.line('Starting a service with billing, and a stand-in of Stripe on this machine:', 0);
    screen.line('no account is needed, and nobody is charged.', 0);
    const { signal, onServiceExit } = watchCrashes(local);
    const { stack, stop } = await startLocalService(local, { stream: screen.stream, shared: false, abort, onServiceExit });
    const url = stack.apiUrl;
    const sentEvents = sendEvents(stripe.state, { url: `${url}/api/auth/stripe/webhook`, secret: webhookSecret });
    const { version } = await createClient({ url }).system.health({}, { signal: abort });
    return {
      ...{ url, version, stripe, sentEvents, signal: AbortSignal.any([abort, signal]) },
      stop: () => stop().finally(() => stripe.stop()),
    };
  } catch (error) {
    await stripe.stop();
    throw error;
  }
}

function ownConfig(stripeUrl: string): LocalConfig {
  const billing = { ...variables, STRIPE_API_BASE: stripeUrl };
  const local = loadLocalConfig(changeVariables(inheritedEnvironment(), { ...embedded, ...nothingOutside, ...billing }));
  return {
    ...local,
    dataDir: join(local.dataDir, 'billing-demo'),
    ports: { api: 0, postgres: 0, temporal: 0, temporalUi: 0, ai: 0, apiMetrics: 0, aiMetrics: 0 },
    overrides: { ...local.overrides, ...billing, METRICS_PORT: '' },
  };
}

/** Blanks of the variables by which the user chooses another service, or another place for one. */
const embedded = Object.fromEntries(
  [
    ...['DATABASE_URL', 'TEMPORAL_ADDRESS', 'TEMPORAL_UI_URL', 'AI_SERVICE_URL'],
    ...['API_URL', 'HOST', 'TEMPORAL_NAMESPACE', 'WORKER_ENABLED'],
  ].map((name) => [name, '']),
);
