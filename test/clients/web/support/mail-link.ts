import { until } from '../../../support/processes.ts';
import type { MailServer } from '../../../support/smtp.ts';

/** The path of the link in the newest mail to an address that has a subject, once it is there. */
export async function mailLink({ mails }: MailServer, address: string, subject: RegExp): Promise<string> {
  const find = () => mails.findLast((mail) => mail.to.includes(address) && subject.test(mail.header('Subject') ?? ''));
  await until(() => find() !== undefined);
  const { pathname, search } = new URL(/https?:\S+/.exec(find()?.body ?? '')?.[0] ?? '');
  return pathname + search;
}
