/** The message for a browser whose page has an untrusted origin: which one, and the setting that allows it. */
export function untrustedOrigin(origin: string): string {
  return `The origin ${origin.slice(0, 200)} is not trusted. The operator trusts it by WEB_URL or TRUSTED_ORIGINS.`;
}
