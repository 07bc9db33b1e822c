import { logLevels } from '../../base/config/environment.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { setLogLevel } from '../../domain/platform/log-level.ts';
import { type Command, parseFlags, UsageError } from '../command.ts';

const flags = { for: { type: 'string' } } as const;
const minutesOf = { m: 1, h: 60 };
const maxMinutes = 24 * 60;

export const logLevelCommand: Command = {
  usage: 'log-level (LEVEL [--for TIME] | default)',
  summary: 'Have every API and worker log at LEVEL for 30m, or another time up to 24h; default ends it.',
  flags,
  async run([level = '', ...args], { db, print }) {
    const { for: time } = parseFlags(args, flags);
    const ends = level === 'default';
    if (!ends && !(logLevels as readonly string[]).includes(level))
      throw new UsageError(`log-level takes default, or one of ${logLevels.join(', ')}.`);
    if (ends && time !== undefined) throw new UsageError('log-level default takes no --for.');
    const minutes = parseMinutes(time ?? '30m');
    const until = await inTransaction(db, (trx) => setLogLevel(trx, systemActor, ends ? null : { level, minutes }));
    print(until ? `The log level is ${level} until ${until.toISOString()}.` : 'Each process has its LOG_LEVEL again.');
  },
};

function parseMinutes(time: string): number {
  const [, count, unit] = /^(\d{1,4})([mh])$/.exec(time) ?? [];
  const minutes = Number(count) * minutesOf[unit as keyof typeof minutesOf];
  if (minutes >= 1 && minutes <= maxMinutes) return minutes;
  throw new UsageError(`--for takes a time from 1m to 24h, such as 90m, not ${time}.`);
}
