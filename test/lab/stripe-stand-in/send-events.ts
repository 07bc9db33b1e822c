import Stripe from 'stripe';
import type { StripeEvent, StripeState } from './stripe-state.ts';

/** An event, and the status with which the service took it; 0 if it did not answer. */
export interface SentEvent {
  type: string;
  status: number;
}

const waitMs = 200;
const tries = 50;

/**
 * Sends each event of the stand-in to a webhook from now on, one after the other, signed as Stripe signs, and again until it is taken.
 * Returns a function that waits until all that happened so far are sent, and tells of those that were not told of before.
 */
export function sendEvents(state: StripeState, { url, secret }: { url: string; secret: string }): () => Promise<SentEvent[]> {
  let last = Promise.resolve();
  let untold: SentEvent[] = [];
  state.onEvent = (event) => {
    last = last.then(async () => void untold.push({ type: event.type, status: await send(event) }));
  };

  async function send(event: StripeEvent): Promise<number> {
    const payload = JSON.stringify({ object: 'event', ...event });
    let status = 0;
    for (let time = 0; time < tries && status !== 200; time++) {
      if (time > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret });
      const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
      status = await fetch(url, { method: 'POST', headers, body: payload }).then(
        (answer) => answer.status,
        () => 0,
      );
    }
    return status;
  }

  return async () => {
    await last;
    const told = untold;
    untold = [];
    return told;
  };
}
