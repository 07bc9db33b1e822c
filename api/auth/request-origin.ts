import type { Origin } from '../../domain/users/notice-mail.ts';

/** The header that carries the client's address to better-auth; the mount overwrites whatever a client puts there. */
export const clientAddressHeader = 'x-client-address';

/** Where a request to better-auth came from. */
export function originOf(headers: Headers | undefined): Origin {
  return { address: headers?.get(clientAddressHeader) ?? undefined, userAgent: headers?.get('user-agent') ?? undefined };
}
