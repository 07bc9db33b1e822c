import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { AddressRefused, type AddressRule, withoutBrackets } from './address-rule.ts';
import { createResolve, type Resolve } from './resolve.ts';

/**
 * Connects only to addresses that the rule allows. A name is looked up once for each connection, and the connection is made to what was
 * checked, so a name that changes meanwhile changes nothing. TLS still checks the certificate of the name.
 */
export function createConnector(rule: AddressRule, resolve: Resolve = createResolve()): buildConnector.connector {
  const connectors = [true, false].map((secure) =>
    buildConnector({ allowH2: false, lookup: createLookup(rule, secure, resolve) } as object),
  );
  const [overTls, plain] = connectors as [buildConnector.connector, buildConnector.connector];
  return (options, callback) => {
    const secure = options.protocol === 'https:';
    const host = withoutBrackets(options.hostname);
    // No name is looked up for an address.
    const refusal = isIP(host) ? rule.refusal(host, { secure }) : undefined;
    if (refusal !== undefined) return callback(new AddressRefused(refusal), null);
    return (secure ? overTls : plain)(options, callback);
  };
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
