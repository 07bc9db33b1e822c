import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * The client's IP address. Behind a trusted proxy it is the one hop of `X-Forwarded-For`; a header with several is one that
 * the client wrote into, and is not believed.
 */
export function clientAddress(req: IncomingMessage, trustProxy: boolean): string {
  const forwarded = req.headers['x-forwarded-for'];
  if (trustProxy && typeof forwarded === 'string' && isIP(forwarded.trim())) return plain(forwarded.trim());
  return plain(req.socket.remoteAddress ?? 'unknown');
}

/** An IPv4 address that a dual-stack socket reports as IPv6 is the same client. */
function plain(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}
