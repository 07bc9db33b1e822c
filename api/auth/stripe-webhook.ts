import { APIError, createAuthEndpoint } from 'better-auth/api';
import type Stripe from 'stripe';
import { z } from 'zod';
import { isUnavailable } from '../../db/unavailable.ts';
import { takeEvent } from '../../domain/payments/take-event.ts';
import type { BillingContext } from './billing-context.ts';
import { toApiError } from './rule-errors.ts';

/** Takes Stripe's events. Responds with 503 while Postgres is away or locked, else with 400 to any failure: Stripe sends the event again. */
export function stripeWebhook({ payments }: BillingContext) {
  return createAuthEndpoint('/stripe/webhook', { method: 'POST', cloneRequest: true, disableBody: true }, async (ctx) => {
    const signature = ctx.request?.headers.get('stripe-signature');
    if (!ctx.request || !signature) throw refusal('STRIPE_SIGNATURE_NOT_FOUND', 'Stripe signature not found');
    const event = await readEvent(await ctx.request.text(), signature);
    try {
      await takeEvent(payments, event);
    } catch (err) {
      if (isUnavailable(err)) throw toApiError(err);
      payments.log.error({ err, event: event.id, type: event.type }, 'an event of Stripe was not taken');
      throw refusal('STRIPE_WEBHOOK_ERROR', 'Stripe webhook error');
    }
    return ctx.json({ success: true });
  });

  async function readEvent(payload: string, signature: string): Promise<Stripe.Event> {
    const event = await payments.stripe.webhooks.constructEventAsync(payload, signature, payments.webhookSecret).catch(() => undefined);
    // Stripe's library checks the signature, not the signed content.
    if (!isEvent.safeParse(event).success || !event) throw refusal('FAILED_TO_CONSTRUCT_STRIPE_EVENT', 'Failed to construct Stripe event');
    return event;
  }
}

const isEvent = z.object({ id: z.string(), type: z.string(), data: z.object({ object: z.looseObject({}) }) });

function refusal(code: string, message: string): APIError {
  return new APIError('BAD_REQUEST', { code, message });
}
