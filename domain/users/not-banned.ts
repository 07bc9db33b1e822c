import { type RawBuilder, sql } from 'kysely';

/** Whether the user of a query's row is not banned, or the ban is over. `user` is the name of the table in the query. */
export function notBanned(user: string): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(`${user}.banned`)} is not true or ${sql.ref(`${user}.banExpires`)} <= now())`;
}
