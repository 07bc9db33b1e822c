import { ApplicationFailure, Context } from '@temporalio/activity';
import { MailError, type OutgoingMail } from '../adapters/mail/port.ts';
import { findMailToSend, type MailRow, noteMailFailure, removeMail, stopMail } from '../domain/mail.ts';
import type { ActivityDeps } from './deps.ts';
import { withHeartbeats } from './progress.ts';

/** Less than the timeout of an attempt, so that the next one never sends at the same time. */
const maxMs = 100_000;

export function mailActivities({ db, mailer, log }: ActivityDeps) {
  return {
    /** Sends a mail and deletes it. A missing mail was sent by an earlier attempt. The recorded failure names no recipient. */
    async sendMail({ mailId }: { mailId: string }): Promise<{ sent: boolean }> {
      const mail = await findMailToSend(db, mailId);
      if (!mail) return { sent: false };
      try {
        const signal = AbortSignal.any([Context.current().cancellationSignal, AbortSignal.timeout(maxMs)]);
        await withHeartbeats(() => mailer.send(toOutgoing(mail), signal));
      } catch (error) {
        if (!(error instanceof MailError)) throw error;
        await noteMailFailure(db, mailId, error.cause instanceof Error ? error.cause.message : error.message);
        log.warn({ mailId, kind: mail.kind, code: error.code }, error.message);
        throw ApplicationFailure.create({ type: error.code, message: error.message, nonRetryable: error.final });
      }
      await removeMail(db, mailId);
      log.info({ mailId, kind: mail.kind }, 'mail sent');
      return { sent: true };
    },

    stopMail: ({ mailId }: { mailId: string }): Promise<void> => stopMail(db, mailId),
  };
}

function toOutgoing(mail: MailRow): OutgoingMail {
  return {
    id: mail.id,
    kind: mail.kind,
    to: mail.recipient,
    replyTo: mail.reply_to_address === null ? null : { address: mail.reply_to_address, name: mail.reply_to_name },
    subject: mail.subject,
    text: mail.body,
    createdAt: mail.created_at,
  };
}
