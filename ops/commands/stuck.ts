import { listWedged } from '../../adapters/temporal/list-wedged.ts';
import { maxStuck } from '../../contract/admin.ts';
import { findStuck } from '../../domain/platform/find-stuck.ts';
import { type Command, parseFlags } from '../command.ts';
import { callTemporal, OpsError } from '../context.ts';
import { age, table } from '../table.ts';

const flags = { json: { type: 'boolean' } } as const;

export const stuckCommand: Command = {
  usage: 'stuck [--json]',
  summary: 'List what should have moved and has not, with the likely reason. Exits 1 if there is anything.',
  flags,
  async run(args, context) {
    const { json } = parseFlags(args, flags);
    const { db, config, print } = context;
    const { stuck, failure } = await findStuck(db, {
      ...{ jobTimeoutMs: config.jobs.timeoutMs, limit: maxStuck },
      listWedged: (work) => callTemporal(context, () => listWedged(context.temporal, work)),
    });
    if (json) print(JSON.stringify({ stuck }));
    else if (stuck.length === 0) print('Nothing is stuck.');
    else {
      const rows = stuck.map(({ what, id, organization, ageSeconds, reason }) => [what, id, organization ?? '', age(ageSeconds), reason]);
      for (const line of table([['WHAT', 'ID', 'ORGANIZATION', 'FOR', 'REASON'], ...rows])) print(line);
    }
    if (failure) throw failure;
    if (stuck.length > 0) throw new OpsError(`${stuck.length === maxStuck ? `At least ${maxStuck}` : stuck.length} stuck.`);
  },
};
