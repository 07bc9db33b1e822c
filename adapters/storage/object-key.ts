const segment = /^[A-Za-z0-9_-]{1,128}$/;

/** The marker that names a store's owner. It is not a valid key, so nothing lists or deletes it. */
export const markerName = '.deployment';

/** The key of a document's bytes: `<organizationId>/<documentId>`. Throws {@link TypeError} if an id cannot be part of a path. */
export function objectKey(organizationId: string, documentId: string): string {
  return assertObjectKey(`${organizationId}/${documentId}`);
}

/** Whether a string is a key: two segments of letters, digits, `_` and `-`, so that no key leads out of the store. */
export function isObjectKey(key: string): boolean {
  const segments = key.split('/');
  return segments.length === 2 && segments.every((part) => segment.test(part));
}

/** Returns the key. Throws {@link TypeError} if it is not one. */
export function assertObjectKey(key: string): string {
  if (!isObjectKey(key)) throw new TypeError('Not the key of a stored object: expected <organizationId>/<documentId>.');
  return key;
}

/** The organization of a prefix of keys; undefined for the empty prefix. Throws {@link TypeError} for any other prefix. */
export function organizationOfPrefix(prefix: string): string | undefined {
  if (prefix === '') return undefined;
  const organizationId = prefix.slice(0, -1);
  if (!prefix.endsWith('/') || !segment.test(organizationId)) throw new TypeError('A prefix is empty or <organizationId>/.');
  return organizationId;
}
