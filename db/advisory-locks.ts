/**
 * The numbers of the locks that a session holds in Postgres while it does what only one process may do at a time. Each has its own. Nobody
 * waits for one in Postgres: who does holds a snapshot, and building an index waits for older snapshots.
 */
export const advisoryLocks = {
  /** Applying migrations. */
  migrations: 7_243_301,
  /** Making and dropping the indexes of large workspaces, which may take hours. */
  vectorIndexes: 7_243_302,
};
