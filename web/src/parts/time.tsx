import { formatExact, formatRelative } from '../text.ts';

/** How long ago, with the exact time on hover. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatExact(at)}>
      {formatRelative(at)}
    </time>
  );
}
