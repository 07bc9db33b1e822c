import { listWaitingMails, sendWaitingMails } from '../../domain/platform/waiting-mails.ts';
import { type Command, parseFlags } from '../command.ts';
import { age, table } from '../table.ts';

const flags = { json: { type: 'boolean' }, send: { type: 'boolean' } } as const;

export const mailsCommand: Command = {
  usage: 'mails [--send] [--json]',
  summary:
    'List the mails that are not sent yet. --send has them sent: after a restore, which holds them, or after Temporal lost its database.',
  flags,
  async run(args, { db, print }) {
    const { json, send } = parseFlags(args, flags);
    const waiting = await listWaitingMails(db);
    const sending = send ? await sendWaitingMails(db) : 0;
    if (json) print(JSON.stringify({ waiting, sending }));
    else if (waiting.length === 0) print('Every mail is sent.');
    else {
      const rows = waiting.map(({ kind, count, refused, oldestSeconds }) => [kind, count, refused, age(oldestSeconds)]);
      for (const line of table([['KIND', 'MAILS', 'REFUSED', 'OLDEST'], ...rows])) print(line);
      if (send) print(`${sending} are being sent.`);
    }
  },
};
