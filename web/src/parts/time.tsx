import { formatExact, formatRelative } from '../text.ts';

/** How long ago, with the exact time on hover. */
export function Time({ at: given }: { at: string | Date }) {
  // better-auth's client makes dates of what it gets.
  const at = typeof given === 'string' ? given : given.toISOString();
  return (
    <time dateTime={at} title={formatExact(at)}>
      {formatRelative(at)}
    </time>
  );
}
