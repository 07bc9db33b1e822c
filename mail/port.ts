/** One mail as it leaves. Nothing in it may break a header's line. */
export interface OutgoingMail {
  /** Makes the Message-ID: a mail that is sent twice can be known by it. */
  id: string;
  kind: string;
  to: string;
  replyTo: { address: string; name: string | null } | null;
  subject: string;
  /** Plain text. */
  text: string;
  createdAt: Date;
}

/** The way out for mails. */
export interface Mailer {
  /** Resolves once the mail is in other hands. Throws {@link MailError}. */
  send(mail: OutgoingMail): Promise<void>;
}

/** A mail was not taken. The code and message name no recipient; what the server said is the cause. */
export class MailError extends Error {
  readonly code: string;
  /** The server refuses this mail for good: trying again is no use. */
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
