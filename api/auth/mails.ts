import type { NewMail } from '../../domain/mail.ts';
import { quoteName } from '../../domain/quote-name.ts';

/** One mail in plain text. */
export type Mail = Pick<NewMail, 'kind' | 'to' | 'subject' | 'text'>;

export function verificationMail(to: string, url: string): Mail {
  return {
    kind: 'verification',
    to,
    subject: 'Confirm your email address',
    text: `Confirm your email address by opening this link:\n\n${url}\n\nIf you did not create an account, ignore this mail.\n`,
  };
}

export function passwordResetMail(to: string, url: string): Mail {
  return {
    kind: 'password-reset',
    to,
    subject: 'Reset your password',
    text: `Choose a new password by opening this link within an hour:\n\n${url}\n\nIf you did not ask for it, ignore this mail.\n`,
  };
}

/** To an address that was signed up again before it was confirmed. */
export function repeatedSignUpMail(to: string, url: string): Mail {
  return {
    kind: 'password-reset',
    to,
    subject: 'Choose a password',
    text: `Somebody signed up with your email address again before it was confirmed, so it has no password now. If it was you, choose one by opening this link within an hour, and sign in; then you can ask for another mail to confirm the address:\n\n${url}\n\nIf you did not sign up, ignore this mail.\n`,
  };
}

/** To the present address of a user who wants another one. */
export function emailChangeMail(to: string, newEmail: string, url: string): Mail {
  return {
    kind: 'email-change',
    to,
    subject: 'Confirm the change of your email address',
    text: `Your email address is to become ${newEmail}. If you want that, open this link within an hour; then ${newEmail} gets a link, too:\n\n${url}\n\nIf you did not ask for it, somebody else is signed in as you: choose a new password.\n`,
  };
}

/** To the new address, once the present one has confirmed the change. */
export function newEmailMail(to: string, url: string): Mail {
  return {
    kind: 'email-change',
    to,
    subject: 'Confirm your new email address',
    text: `Confirm that this is the new email address of your account by opening this link within an hour:\n\n${url}\n\nIf you did not ask for it, ignore this mail.\n`,
  };
}

export function invitationMail(to: string, invitation: { inviter: string; organization: string; role: string; url: string }): Mail {
  const [inviter, organization] = [quoteName(invitation.inviter), quoteName(invitation.organization)];
  return {
    kind: 'invitation',
    to,
    subject: `Invitation to ${organization}`,
    text: `${inviter} invites you to join ${organization} as ${invitation.role}. Accept here:\n\n${invitation.url}\n\nIf you do not know who invites you, ignore this mail.\n`,
  };
}
