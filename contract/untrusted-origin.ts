/** What a browser is told whose page is of an origin that is not trusted: which one, and what lets it in. */
export function untrustedOrigin(origin: string): string {
  return `The origin ${origin.slice(0, 200)} is not trusted. The operator trusts it by WEB_URL or TRUSTED_ORIGINS.`;
}
