import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { endOutage } from '../../domain/outages/note-up.ts';
import { listOutages, outageParts } from '../../domain/outages/outage.ts';
import { type Command, parseFlags, UsageError } from '../command.ts';
import { age, table } from '../table.ts';

const flags = { end: { type: 'string' }, json: { type: 'boolean' } } as const;

export const outagesCommand: Command = {
  usage: 'outages [--end PART] [--json]',
  summary: 'List what is down: the AI service, or the provider of a role, and how many jobs wait for it. --end lets its jobs go on.',
  flags,
  async run(args, { db, print }) {
    const { end, json } = parseFlags(args, flags);
    if (end !== undefined) {
      const part = outageParts.find((one) => one === end);
      if (!part) throw new UsageError(`--end takes one of ${outageParts.join(', ')}, not ${end}.`);
      const ended = await inTransaction(db, (trx) => endOutage(trx, systemActor, part));
      if (json) return print(JSON.stringify({ part, ended }));
      return print(ended ? `Jobs that need ${part} go on.` : `${part} is not known to be down.`);
    }
    const outages = await listOutages(db);
    if (json) print(JSON.stringify({ outages }));
    else if (outages.length === 0) print('Nothing is known to be down.');
    else {
      const rows = outages.map(({ part, cause, seconds, probeSeconds, waiting }) => [
        part,
        cause,
        age(seconds),
        age(probeSeconds),
        waiting,
      ]);
      for (const line of table([['DOWN', 'CAUSE', 'FOR', 'NEXT PROBE IN', 'JOBS WAITING'], ...rows])) print(line);
    }
  },
};
