import { isValidIP, normalizeIP } from '@better-auth/core/utils/ip';

/**
 * What limits count a client by: its IPv4 address, also one that is written as IPv6, or the /64 of its IPv6 address. One subscriber has
 * all the addresses of a /64. The same as better-auth counts by. Any other text is returned as it is.
 */
export function networkOf(address: string): string {
  const [withoutZone = address] = address.split('%');
  return isValidIP(withoutZone) ? normalizeIP(withoutZone) : address;
}
