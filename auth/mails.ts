import { quoteName } from '../domain/quote-name.ts';

/** One mail in plain text. */
export interface Mail {
  kind: 'verification' | 'password-reset' | 'invitation';
  to: string;
  subject: string;
  text: string;
}

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

export function invitationMail(to: string, invitation: { inviter: string; organization: string; role: string; url: string }): Mail {
  const [inviter, organization] = [quoteName(invitation.inviter), quoteName(invitation.organization)];
  return {
    kind: 'invitation',
    to,
    subject: `Invitation to ${organization}`,
    text: `${inviter} invites you to join ${organization} as ${invitation.role}. Accept here:\n\n${invitation.url}\n\nIf you do not know who invites you, ignore this mail.\n`,
  };
}
