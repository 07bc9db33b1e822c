import type { Command } from './command.ts';

/** How the commands are called, one line for each. */
export function usageOf(commands: Record<string, Command>): string {
  const list = Object.values(commands);
  const width = Math.max(...list.map(({ usage }) => usage.length));
  return [
    'Usage: npm run ops -- COMMAND [ARGUMENTS]',
    '',
    'Commands:',
    ...list.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`),
    '',
    'They work on DATABASE_URL and TEMPORAL_ADDRESS where these are set, else on what `npm start` runs in DATA_DIR (.data).',
  ].join('\n');
}
