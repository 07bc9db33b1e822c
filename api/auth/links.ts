/**
 * better-auth's link that confirms an address, which goes on to the application if the request named no page: better-auth's default is
 * the API.
 */
export function withPage(link: string, webUrl: string): string {
  const url = new URL(link);
  if (url.searchParams.get('callbackURL') === '/') url.searchParams.set('callbackURL', `${webUrl}/`);
  return url.href;
}

/** better-auth's link, with the page for the new password if the request named none: without a page the link would fail. */
export function withResetPage(link: string, webUrl: string): string {
  const url = new URL(link);
  if (!url.searchParams.get('callbackURL')) url.searchParams.set('callbackURL', `${webUrl}/reset-password`);
  return url.href;
}
