import { type Kysely, sql } from 'kysely';

/** Runs the statements of a file one after another. Each ends with a semicolon at the end of a line, outside of `$$`. */
export async function runScript<D>(db: Kysely<D>, text: string): Promise<void> {
  const marked = text.split('$$').map((part, index) => (index % 2 === 0 ? part.replaceAll(/;[ \t]*$/gm, ';\0') : part));
  for (const statement of marked.join('$$').split('\0')) if (statement.trim() !== '') await sql.raw(statement).execute(db);
}
