import type { Logger } from 'pino';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** Messages that better-auth logs as errors, although any client can cause them. */
const byClients = [
  ...['INVALID_CALLBACK_REQUEST', 'State not found', 'Failed to parse state', 'OAuth issuer mismatch', 'Provider not found'],
  ...['Provider does not support', 'Delete user is', 'Change email is', 'Blocked cross-site'],
];

/** Writes better-auth's log lines to the service's log, without contents of requests, and without errors that clients caused. */
export function logLine(log: Logger): (level: Level, message: string) => void {
  return (level, message) => {
    // The text after the colon comes from the client.
    const refused = /^(Invalid \w+): /.exec(message)?.[1];
    const isOfClient = refused !== undefined || byClients.some((begins) => message.startsWith(begins));
    log[level === 'error' && isOfClient ? 'warn' : level]({ component: 'auth' }, refused ?? message);
  };
}
