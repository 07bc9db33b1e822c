import type { ServerConfig } from '../../base/config/server.ts';
import { createMailbox, mailboxDirectory } from './mailbox.ts';
import { MailError, type Mailer } from './port.ts';
import { createSmtpMailer } from './smtp-mailer.ts';

/** The mailer that the configuration names. Nothing connects before the first mail. */
export function createMailer({ email, dataDir, apiUrl, webUrl }: Pick<ServerConfig, 'email' | 'dataDir' | 'apiUrl' | 'webUrl'>): Mailer {
  const { provider, smtpUrl, from, senderName: name } = email;
  const style = { name, origins: [apiUrl, webUrl].map((url) => new URL(url).origin) };
  if (provider === 'smtp' && smtpUrl !== undefined) return createSmtpMailer({ url: smtpUrl, from, style });
  if (provider === 'mailbox') return createMailbox({ directory: mailboxDirectory(dataDir), from, style });
  return { send: refuseAll };
}

/** The error is not final: a mail that was queued with a provider is tried for three days, as any other, in case there is one again. */
async function refuseAll(): Promise<void> {
  throw new MailError('no_provider', 'No email provider is configured.', { final: false, cause: undefined });
}
