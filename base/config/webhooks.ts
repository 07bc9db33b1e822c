import { isIP } from 'node:net';
import { flag, list } from './environment.ts';

/** The variables of webhooks. They are off by default: nothing leaves the service unless an operator wants it. */
export const webhookVariables = {
  WEBHOOKS_ENABLED: flag(false),
  WEBHOOKS_ALLOWED_NETWORKS: list().refine(
    (networks) => networks.every(isNetwork),
    'must be networks such as 10.0.0.0/8 or fd00::/8, separated by commas',
  ),
};

function isNetwork(text: string): boolean {
  const [address = '', bits = ''] = text.split('/');
  const version = isIP(address);
  return version !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}
