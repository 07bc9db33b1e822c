import type { ServerConfig } from '../../base/config/server.ts';
import { createMailbox, mailboxDirectory } from './mailbox.ts';
import type { Mailer } from './port.ts';
import { createSmtpMailer } from './smtp-mailer.ts';

/** The mailer that the configuration names. Nothing connects before the first mail. */
export function createMailer({ email, dataDir, apiUrl, webUrl }: Pick<ServerConfig, 'email' | 'dataDir' | 'apiUrl' | 'webUrl'>): Mailer {
  const { smtpUrl, from, senderName: name } = email;
  const style = { name, origins: [apiUrl, webUrl].map((url) => new URL(url).origin) };
  if (smtpUrl !== undefined) return createSmtpMailer({ url: smtpUrl, from, style });
  return createMailbox({ directory: mailboxDirectory(dataDir), from, style });
}
