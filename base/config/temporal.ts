import { accessSync, constants } from 'node:fs';
import { z } from 'zod';
import { crossCheck, integer } from './environment.ts';

/** The address of Temporal: a host, `host:port`, or an IPv6 address in brackets. */
export function hostAndPort() {
  return z.string().regex(/^(\[[\da-f:.]+\]|[^\s:/[\]]+)(:\d{1,5})?$/i, 'must be HOST or HOST:PORT, without http://');
}

/** How far the port of the embedded Temporal's web UI is above that of the server. */
export const temporalUiOffset = 1_000;

/** The port of the embedded Temporal. */
export function temporalPort() {
  return integer(7233, { min: 1, max: 65_535 - temporalUiOffset });
}

/** The variables of the way to Temporal, beside its address. */
export const temporalVariables = {
  TEMPORAL_NAMESPACE: z.string().default('default'),
  TEMPORAL_API_KEY: z.string().optional(),
  TEMPORAL_TLS_CA: z.string().optional(),
  TEMPORAL_TLS_CERT: z.string().optional(),
  TEMPORAL_TLS_KEY: z.string().optional(),
};

const temporalEnvironment = z.object(temporalVariables);

const check = crossCheck<typeof temporalEnvironment>();

/** Checks of the variables of the connection to Temporal. */
export const temporalChecks = [
  check(['TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY'], (e) => {
    const absent = (['TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY'] as const).filter((name) => e[name] === undefined);
    // With a key alone the connection would have no TLS, with a certificate alone the client would not present it.
    return absent.length === 1 ? [`${absent[0]}: is missing while the other half is set`] : [];
  }),
  ...(['TEMPORAL_TLS_CA', 'TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY'] as const).map((name) => check([name], (e) => unreadable(name, e[name]))),
];

function unreadable(name: string, path: string | undefined): string[] {
  if (path === undefined) return [];
  try {
    accessSync(path, constants.R_OK);
    return [];
  } catch (error) {
    return [`${name}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`];
  }
}
