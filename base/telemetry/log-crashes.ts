import type { Logger } from 'pino';

/**
 * Ends the process with exit code 1 at an error that nobody has caught, and writes it to the log. Node would print a stack, which is no line of
 * the log and may hold values, such as those of the row that Postgres refused.
 */
export function logCrashes(log: Logger): void {
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'the process ends: an error was not caught');
    process.exit(1);
  });
}
