import { t } from '../text.ts';

/** Where rows or lines will stand, at once: nothing turns, and nothing moves when they come. */
export function Waiting() {
  return (
    <div role="status" aria-label={t.common.loading} className="waiting">
      <span />
      <span />
      <span />
      <span />
    </div>
  );
}
