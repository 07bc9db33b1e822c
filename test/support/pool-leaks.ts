import pg from 'pg';

const opened = new Map<pg.Pool, string>();

/** Notes, from now on, every pool that is connected, and where. */
export function trackPools(): void {
  const { connect } = pg.Pool.prototype;
  pg.Pool.prototype.connect = function (this: pg.Pool, ...callback: Parameters<typeof connect>) {
    if (!opened.has(this)) opened.set(this, new Error('opened here').stack ?? '');
    return connect.apply(this, callback);
  } as typeof connect;
}

/** Throws when a pool that was connected is still open, with the place that connected it first; closes it all the same. */
export async function endTrackingPools(): Promise<void> {
  const left = [...opened].filter(([pool]) => !pool.ending);
  opened.clear();
  await Promise.allSettled(left.map(([pool]) => pool.end()));
  if (left.length > 0) throw new Error(`A test left a connection pool open:\n${left.map(([, stack]) => stack).join('\n')}`);
}
