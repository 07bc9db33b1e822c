import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { AddressRefused, type AddressRule, withoutBrackets } from './address-rule.ts';
import { createResolve, type Resolve } from './resolve.ts';

/**
 * Checks the hosts of requests by a rule. A name is looked up once for each connection, and the connection is made to what was checked, so a
 * name that changes meanwhile changes nothing. TLS still checks the certificate of the name.
 */
export class HostCheck {
  readonly #rule: AddressRule;
  readonly #resolve: Resolve;

  constructor(rule: AddressRule, resolve: Resolve = createResolve()) {
    this.#rule = rule;
    this.#resolve = resolve;
  }

  /** The lookup of connections to a URL. Throws AddressRefused if its host is an address, which is not looked up, and refused. */
  lookupFor({ hostname, protocol }: URL): LookupFunction {
    const secure = protocol === 'https:';
    const host = withoutBrackets(hostname);
    const refusal = isIP(host) ? this.#rule.refusal(host, { secure }) : undefined;
    if (refusal !== undefined) throw new AddressRefused(refusal);
    return createLookup(this.#rule, secure, this.#resolve);
  }
}

function createLookup(rule: AddressRule, secure: boolean, resolve: Resolve): LookupFunction {
  return (host, options, callback) => {
    const answer = (found: LookupAddress[]) => {
      const allowed = found.filter(({ address }) => rule.refusal(address, { secure }) === undefined);
      const [first] = allowed;
      if (!first) return callback(new AddressRefused(whyNone(rule, found, secure)), []);
      if (options.all) return callback(null, allowed);
      return callback(null, first.address, first.family);
    };
    resolve(host).then(answer, (error) => callback(error, []));
  };
}

function whyNone(rule: AddressRule, found: LookupAddress[], secure: boolean): string {
  const [first] = found;
  return (first && rule.refusal(first.address, { secure })) ?? 'The host has no address.';
}
