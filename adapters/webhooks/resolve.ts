import { promises as dns, type LookupAddress } from 'node:dns';

/** Resolves a name to all of its addresses. Rejects if it has none. */
export type Resolve = (host: string) => Promise<LookupAddress[]>;

/**
 * Resolves by DNS alone, with the system's servers unless others are given (`127.0.0.1:53`). `dns.lookup` would hold one of the process's few
 * threads until a silent name server is given up, and with it every other look-up.
 */
export function createResolve(servers?: readonly string[]): Resolve {
  // Silence is given up after 12 s, or 3 s once the server has been quick.
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 3 });
  if (servers) resolver.setServers(servers);
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [
      ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (found.length === 0 && v4.status === 'rejected') throw v4.reason;
    return found;
  };
}
