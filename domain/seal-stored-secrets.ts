import { sql } from 'kysely';
import type { Db } from '../db/connect.ts';
import { type SecretBox, sealedPrefix, tokenColumns } from './secret-box.ts';

const batchSize = 500;

/** The tables with secrets that are read again, and their columns. */
const secretColumns = { webhook_endpoint: ['secret', 'previous_secret'], account: tokenColumns } as const;

interface SealOptions {
  onProgress: (sealed: number) => void;
  signal: AbortSignal;
}

/**
 * Seals what rows from before secrets were sealed hold in clear, or what was sealed with a previous key, in batches. Returns how many rows
 * were changed.
 */
export async function sealStoredSecrets(db: Db, secrets: SecretBox, { onProgress, signal }: SealOptions): Promise<number> {
  let sealed = 0;
  for (const [table, columns] of Object.entries(secretColumns)) {
    for (let after = ''; ; ) {
      signal.throwIfAborted();
      const rows = await findRows(db, { table, columns, after, all: secrets.hasPrevious });
      for (const row of rows) sealed += await sealRow(db, { table, columns, row }, secrets);
      onProgress(sealed);
      const last = rows.at(-1);
      if (!last || rows.length < batchSize) break;
      after = last.id;
    }
  }
  return sealed;
}

type Row = { id: string } & Record<string, string | null>;

/** The rows that hold something in clear, or all: only their contents tell which key they were sealed with. */
async function findRows(
  db: Db,
  { table, columns, after, all }: { table: string; columns: readonly string[]; after: string; all: boolean },
): Promise<Row[]> {
  const isClear = columns.map((column) => sql`(${all} or not starts_with(${sql.ref(column)}, ${sealedPrefix}))`);
  const { rows } = await sql<Row>`
    select id, ${sql.join(columns.map((column) => sql.ref(column)))} from ${sql.table(table)}
    where id > ${after} and (${sql.join(isClear, sql` or `)}) order by id limit ${batchSize}
  `.execute(db);
  return rows;
}

/** Changes nothing if the row was changed meanwhile: that has sealed it. */
async function sealRow(
  db: Db,
  { table, columns, row }: { table: string; columns: readonly string[]; row: Row },
  { reseal }: SecretBox,
): Promise<number> {
  const held = columns.flatMap((column) =>
    row[column] == null ? [] : [{ column: sql.ref(column), value: row[column], sealed: reseal(row[column]) }],
  );
  if (held.every(({ value, sealed }) => value === sealed)) return 0;
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(table)} set ${sql.join(held.map(({ column, sealed }) => sql`${column} = ${sealed}`))}
    where id = ${row.id} and ${sql.join(
      held.map(({ column, value }) => sql`${column} = ${value}`),
      sql` and `,
    )}
  `.execute(db);
  return Number(numAffectedRows);
}
