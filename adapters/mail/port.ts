/** A mail to send. The fields of headers contain no line breaks. */
export interface OutgoingMail {
  /** Becomes the Message-ID, so that a mail that is sent twice can be recognized. */
  id: string;
  kind: string;
  to: string;
  replyTo: { address: string; name: string | null } | null;
  subject: string;
  /** Plain text. */
  text: string;
  createdAt: Date;
}

/** Sends mails. */
export interface Mailer {
  /** Resolves once the mail has been accepted. Throws {@link MailError}, also if the signal aborts: whether it was accepted is unknown then. */
  send(mail: OutgoingMail, signal?: AbortSignal): Promise<void>;
}

/** A mail was not accepted. The code and message do not name the recipient; the server's own error is the cause. */
export class MailError extends Error {
  readonly code: string;
  /** The server refuses this mail permanently, so a retry is useless. */
  readonly final: boolean;

  constructor(code: string, message: string, options: { final: boolean; cause: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'MailError';
    this.code = code;
    this.final = options.final;
  }
}

/** The Message-ID of a mail, in the domain of the sender's address. */
export function messageIdOf(mail: Pick<OutgoingMail, 'id'>, from: string): string {
  return `<${mail.id}@${/@([^>\s]+)/.exec(from)?.[1] ?? 'localhost'}>`;
}
