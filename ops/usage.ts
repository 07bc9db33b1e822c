import type { Command } from './command.ts';

/** How the commands are called and what they do. */
export function usageOf(commands: Record<string, Command>): string {
  return [
    'Usage: npm run ops -- COMMAND [ARGUMENTS]',
    '',
    ...Object.values(commands).flatMap(({ usage, summary }) => [`  ${usage}`, `      ${summary}`]),
    '',
    'They work on DATABASE_URL and TEMPORAL_ADDRESS where these are set, else on what `npm start` runs in DATA_DIR (.data).',
  ].join('\n');
}
