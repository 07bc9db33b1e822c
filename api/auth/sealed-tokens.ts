import type { BetterAuthPlugin } from 'better-auth';
import type { KyselyPlugin } from 'kysely';
import { type SecretBox, tokenColumns } from '../../domain/secret-box.ts';

/** Has better-auth write the tokens of providers sealed. Its own option for this leaves out the ID token. */
export function sealedTokensPlugin(box: SecretBox): BetterAuthPlugin {
  const before = async (account: Record<string, unknown>) => ({ data: changeTokens(account, box.seal) });
  const databaseHooks = { account: { create: { before }, update: { before } } };
  return { id: 'sealed-tokens', init: () => ({ options: { databaseHooks } }) };
}

/**
 * Opens them in whatever better-auth reads; those of another AUTH_SECRET are missing until the next sign-in by that provider. Only the table
 * `account` has columns with these names.
 */
export function openTokens(box: SecretBox): KyselyPlugin {
  return {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => ({
      ...result,
      rows: result.rows.map((row) => changeTokens(row, (token) => box.tryOpen(token) ?? null)),
    }),
  };
}

function changeTokens<Row extends Record<string, unknown>>(row: Row, change: (token: string) => string | null): Row {
  const held = tokenColumns.filter((column) => typeof row[column] === 'string');
  return held.length === 0 ? row : { ...row, ...Object.fromEntries(held.map((column) => [column, change(row[column] as string)])) };
}
