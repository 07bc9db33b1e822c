import { isIP } from 'node:net';
import { delays, flag, list, milliseconds } from './environment.ts';

/** The waits of Standard Webhooks after each attempt but the last: ten attempts in three days. */
const standardDelays = '5000,300000,1800000,7200000,18000000,36000000,50400000,72000000,86400000';

/** The variables of webhooks. They are off by default: nobody is told of anything unless an operator wants it. */
export const webhookVariables = {
  WEBHOOKS_ENABLED: flag(false),
  WEBHOOKS_ALLOWED_NETWORKS: list().refine(
    (networks) => networks.every(isNetwork),
    'must be networks such as 10.0.0.0/8 or fd00::/8, separated by commas',
  ),
  // An attempt that takes longer is presumed lost.
  WEBHOOK_TIMEOUT_MS: milliseconds(15_000, { min: 100, max: 45_000 }),
  WEBHOOK_RETRY_DELAYS_MS: delays(standardDelays),
};

function isNetwork(text: string): boolean {
  const [address = '', bits = ''] = text.split('/');
  const version = isIP(address);
  return version !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}
