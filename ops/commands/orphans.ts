import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { allowSweep, findStop, listOrphans } from '../../domain/stored-objects/orphan-sweep-stop.ts';
import { type Command, parseFlags } from '../command.ts';
import { OpsError } from '../context.ts';

const examples = 20;

const flags = { 'go-on': { type: 'boolean' }, json: { type: 'boolean' } } as const;

export const orphansCommand: Command = {
  usage: 'orphans [--go-on] [--json]',
  summary:
    'Show whether the sweep of stored objects without a document has stopped; --go-on lets it delete as many. Exits 1 while it is stopped.',
  flags,
  async run(args, { db, print }) {
    const { json, 'go-on': goOn } = parseFlags(args, flags);
    const stop = goOn ? await inTransaction(db, (trx) => allowSweep(trx, systemActor)) : await findStop(db);
    const orphans = stop ? await listOrphans(db, examples) : [];
    if (json) print(JSON.stringify({ stop: stop ?? null, orphans }));
    else if (!stop) print('The sweep has not stopped.');
    else {
      print(`${stop.found} of ${stop.checked} stored objects have no document (${stop.stopped_at.toISOString()}). Some of them:`);
      for (const key of orphans) print(`  ${key}`);
      if (stop.allowed > 0) print(`The next housekeeping may delete ${stop.allowed}.`);
    }
    if (stop && stop.allowed === 0)
      throw new OpsError('Nothing is deleted until you say so: is this the database of that store? Then --go-on.');
  },
};
