import ipaddr from 'ipaddr.js';

/** A connection that the deployment does not make. The message is for the tenant: it names no address. */
export class AddressRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AddressRefused';
  }
}

/** Globally routed IPv6 addresses; everything outside is of a special sort, known or not. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** Azure answers virtual machines there, although the address is of a public range. */
const azureHost = ipaddr.parse('168.63.129.16').toString();

/**
 * Says which addresses may be connected to: public ones over TLS, and those of the allowed networks (`10.0.0.0/8`) over http, too. What is
 * not known to be public is not.
 */
export class AddressRule {
  readonly #allowed: [ipaddr.IPv4 | ipaddr.IPv6, number][];

  constructor(allowedNetworks: readonly string[]) {
    this.#allowed = allowedNetworks.map((network) => ipaddr.parseCIDR(network));
  }

  /** Why an address is refused; undefined if it is not. */
  refusal(address: string, { secure }: { secure: boolean }): string | undefined {
    // An IPv4 address that is written as IPv6 reaches the same host.
    const parsed = ipaddr.process(address);
    if (this.#allowed.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))) return undefined;
    const range = parsed.range();
    const isPublic =
      range === 'unicast' && parsed.toString() !== azureHost && (parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(globalUnicast));
    if (!isPublic) return `The address of the host is not public (${range}), and this deployment does not allow it.`;
    return secure ? undefined : 'A public host is reached only over https.';
  }

  /** Why a URL is refused before its host is looked up; undefined if that has to be seen. */
  refusalOfUrl(url: string): string | undefined {
    const { hostname, protocol } = new URL(url);
    const secure = protocol === 'https:';
    const host = withoutBrackets(hostname);
    if (ipaddr.isValid(host)) return this.refusal(host, { secure });
    return secure || this.#allowed.length > 0 ? undefined : 'A public host is reached only over https.';
  }
}

/** `::1` for `[::1]`, as a URL has it. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
