/**
 * The numbers of the advisory locks, each for work that only one process may do at a time. Take them with `pg_try_advisory_lock`, without
 * waiting: a waiting session holds a snapshot, and index builds wait for older snapshots.
 */
export const advisoryLocks = {
  /** Applying migrations. */
  migrations: 7_243_301,
  /** Making and dropping the indexes of large workspaces, which may take hours. */
  vectorIndexes: 7_243_302,
};
