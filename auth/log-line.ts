import type { Logger } from 'pino';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** What better-auth logs as an error, although any client can bring it about. */
const byClients = [
  ...['INVALID_CALLBACK_REQUEST', 'State not found', 'Failed to parse state', 'OAuth issuer mismatch', 'Provider not found'],
  ...['Provider does not support', 'Delete user is', 'Change email is', 'Blocked cross-site'],
];

/** Writes better-auth's lines to the log of the service: nothing of what a client sent, and no error that is a client's. */
export function logLine(log: Logger): (level: Level, message: string) => void {
  return (level, message) => {
    // The text after the colon is the client's.
    const refused = /^(Invalid \w+): /.exec(message)?.[1];
    const isOfClient = refused !== undefined || byClients.some((begins) => message.startsWith(begins));
    log[level === 'error' && isOfClient ? 'warn' : level]({ component: 'auth' }, refused ?? message);
  };
}
