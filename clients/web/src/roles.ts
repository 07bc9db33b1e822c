export type Role = 'owner' | 'admin' | 'member';

/** The role that counts of those that somebody has. */
export function roleIn(stored: string): Role {
  const held = stored.split(',');
  return (['owner', 'admin'] as const).find((role) => held.includes(role)) ?? 'member';
}
