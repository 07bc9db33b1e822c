import { sql } from 'kysely';
import type { Db } from '../db/connect.ts';
import { type Resealer, tokenColumns } from './secret-box.ts';

const batchSize = 500;

/** The tables with secrets that are read again, their columns, and what seals them. */
const secretColumns = [
  { table: 'webhook_endpoint', columns: ['secret', 'previous_secret'], sealedBy: 'secrets' },
  { table: 'account', columns: tokenColumns, sealedBy: 'secrets' },
  { table: 'twoFactor', columns: ['secret', 'backupCodes'], sealedBy: 'secondFactors' },
] as const;

interface SealOptions {
  onProgress: (sealed: number) => void;
  signal: AbortSignal;
}

/**
 * Seals what rows from before secrets were sealed hold in clear, or what was sealed with a previous key, in batches. Returns how many rows
 * were changed.
 */
export async function sealStoredSecrets(
  db: Db,
  boxes: { secrets: Resealer; secondFactors: Resealer },
  { onProgress, signal }: SealOptions,
): Promise<number> {
  let sealed = 0;
  for (const { table, columns, sealedBy } of secretColumns) {
    const box = boxes[sealedBy];
    for (let after = ''; ; ) {
      signal.throwIfAborted();
      const rows = await findRows(db, { table, columns, after }, box);
      for (const row of rows) sealed += await sealRow(db, { table, columns, row }, box);
      onProgress(sealed);
      const last = rows.at(-1);
      if (!last || rows.length < batchSize) break;
      after = last.id;
    }
  }
  return sealed;
}

type Row = { id: string } & Record<string, string | null>;

/** The rows that hold something in clear, or all if there is a previous key: only their contents tell which key they were sealed with. */
async function findRows(
  db: Db,
  { table, columns, after }: { table: string; columns: readonly string[]; after: string },
  { hasPrevious, prefix }: Resealer,
): Promise<Row[]> {
  const isClear = columns.map((column) => sql`(${hasPrevious} or not starts_with(${sql.ref(column)}, ${prefix}))`);
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
  { reseal }: Resealer,
): Promise<number> {
  const held = [];
  for (const column of columns) {
    const value = row[column];
    if (value != null) held.push({ column: sql.ref(column), value, sealed: await reseal(value) });
  }
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
