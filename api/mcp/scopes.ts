/** The scopes of access tokens. An API key has permissions instead. */
export const scopes = { read: 'mcp:read', write: 'mcp:write' } as const;

/** The scopes that a tool needs. Each write needs both, since every call needs the first. */
export function scopesOf({ writes }: { writes: boolean }): [string, ...string[]] {
  return writes ? [scopes.read, scopes.write] : [scopes.read];
}
