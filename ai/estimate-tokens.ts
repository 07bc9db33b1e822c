/** Rather too many: English has four bytes in a token, other languages and scripts three or fewer, and tables two. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3);
}
