import { join } from 'node:path';
import type { ServerConfig } from '../config/server.ts';
import { createMailbox } from './mailbox.ts';
import { MailError, type Mailer } from './port.ts';
import { createSmtpMailer } from './smtp.ts';

/** The way out that the configuration names. Connects to nothing yet. */
export function createMailer({ email, dataDir }: Pick<ServerConfig, 'email' | 'dataDir'>): Mailer {
  const { provider, smtpUrl, from } = email;
  if (provider === 'smtp' && smtpUrl !== undefined) return createSmtpMailer({ url: smtpUrl, from });
  if (provider === 'mailbox') return createMailbox({ directory: join(dataDir, 'mail'), from });
  return { send: refuse };
}

/** Mails that were queued while there was a provider wait for one to come back. */
async function refuse(): Promise<void> {
  throw new MailError('no_provider', 'No email provider is configured.', { final: false, cause: undefined });
}
