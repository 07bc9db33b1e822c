import { maxBodyBytes } from '../../contract/errors.ts';

/** The base path of better-auth's endpoints. */
export const basePath = '/api/auth';
export const webhookPath = `${basePath}/stripe/webhook`;

/** The maximum body of better-auth's endpoints, in bytes. */
const maxOwnBodyBytes = 64 * 1024;

/** The maximum body at a path below {@link basePath}, in bytes. Only Stripe, if configured, sends larger ones. */
export function largestAuthBody(path: string, { hasWebhook }: { hasWebhook: boolean }): number {
  return path === webhookPath && hasWebhook ? maxBodyBytes : maxOwnBodyBytes;
}
