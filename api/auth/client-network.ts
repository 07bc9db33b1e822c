import { isValidIP, normalizeIP } from '@better-auth/core/utils/ip';

/**
 * The network by which limits count a client, as better-auth does: its IPv4 address, also if written as IPv6, or the /64 of its IPv6
 * address, since one subscriber has all addresses of a /64. Any other text is returned as it is.
 */
export function networkOf(address: string): string {
  const [withoutZone = address] = address.split('%');
  return isValidIP(withoutZone) ? normalizeIP(withoutZone) : address;
}
