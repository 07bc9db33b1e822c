import { maxBodyBytes } from '../contract/errors.ts';

/** Where the endpoints of better-auth are. */
export const basePath = '/api/auth';
export const webhookPath = `${basePath}/stripe/webhook`;

/** What the largest request of better-auth's endpoints may have, in bytes. */
const maxOwnBodyBytes = 64 * 1024;

/** What the largest request to a path below {@link basePath} may have, in bytes. Only Stripe sends more than others, if it is configured. */
export function largestAuthBody(path: string, { hasWebhook }: { hasWebhook: boolean }): number {
  return path === webhookPath && hasWebhook ? maxBodyBytes : maxOwnBodyBytes;
}
