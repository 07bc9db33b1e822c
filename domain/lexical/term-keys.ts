import { createHash } from 'node:crypto';

/**
 * The key of a workspace in the index of postings: 64 bits of a cryptographic hash of its id, which nobody chooses. A million workspaces
 * have two with the same key with a chance of 1 in 40 million. Written as text, because a number has not as many bits.
 */
export function workspaceKeyOf(workspaceId: string): string {
  return createHash('sha256').update(workspaceId).digest().readBigInt64BE().toString();
}

/**
 * The key of a term: 53 bits of a hash. Of a million terms of a workspace two share a key with a chance of 1 in 20,000; then each is found by
 * the other, too.
 */
export function termKeyOf(term: string): number {
  return (hash(term, 0x811c9dc5) & 0x1f_ffff) * 2 ** 32 + hash(term, 0x2c1b3c6d);
}

/** FNV-1a from a given basis, mixed so that every character affects every bit. */
function hash(text: string, basis: number): number {
  let value = basis;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  value = Math.imul(value ^ (value >>> 15), 0x846ca68b);
  return (value ^ (value >>> 16)) >>> 0;
}
