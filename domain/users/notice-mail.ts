import Bowser from 'bowser';
import type { NewMail } from '../mail.ts';
import { quoteName } from '../quote-name.ts';

/** Where a change came from, as the request says. */
export interface Origin {
  address: string | undefined;
  userAgent: string | undefined;
}

/** Tells a user what was done to their account, by whom the address and the browser tell, and what to do if it was not them. */
export function noticeMail(to: string, what: string, { address, userAgent }: Origin): NewMail {
  const from = [address && `Address: ${address}`, userAgent && `Browser: ${quoteName(browserOf(userAgent))}`].filter(Boolean);
  const when = `Time: ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const advice = 'If you did not expect this, choose a new password, and end the sessions and API keys that you do not know.';
  return { kind: 'notice', to, subject: what, text: `${what}.\n\n${[when, ...from].join('\n')}\n\n${advice}\n` };
}

/** `Firefox, Linux`; what else a program says of itself is left as it is. */
function browserOf(userAgent: string): string {
  const { browser, os } = Bowser.parse(userAgent);
  return browser.name && os.name ? `${browser.name}, ${os.name}` : userAgent;
}
