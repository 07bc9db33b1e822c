import { createDb, createPool } from '../../db/connect.ts';
import { getMigrationStatus, migrate } from '../../db/migrate.ts';
import { migrations } from '../../db/migrations/index.ts';
import { type Command, parseFlags } from '../command.ts';
import { counted } from '../table.ts';

const flags = { json: { type: 'boolean' } } as const;

export const migrateCommand: Command = {
  usage: 'migrate [--json]',
  summary: 'Apply the pending migrations and triggers. The API does that too when it starts, so this is for a step of its own before it.',
  flags,
  async run(args, { databaseUrl, print, note }) {
    const { json } = parseFlags(args, flags);
    const db = createDb(createPool({ url: databaseUrl, poolSize: 2, name: 'sheaf migrations', work: 'migration' }));
    try {
      const { pending } = await getMigrationStatus(db);
      const due = pending.filter((name) => name in migrations);
      await migrate(db, {
        onBusy: (migration) => note(`${migration} waits for a lock; it is tried again.`),
        onWait: () => note('Another process applies migrations, or one that was killed still does in Postgres; this waits for it.'),
      });
      const { applied, unknown } = await getMigrationStatus(db);
      if (json) return print(JSON.stringify({ applied: due, inDatabase: applied, unknown }));
      print(`${counted(due.length, 'migration was', 'migrations were')} applied, ${applied} in the database.`);
      if (unknown > 0) print(`${unknown} of them are of a newer version, and were left as they are.`);
    } finally {
      await db.destroy();
    }
  },
};
