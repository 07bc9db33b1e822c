// Loaded before the API and the worker, and in each of their threads (`--import`): collects garbage once a busy thread becomes idle.
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const checkMs = 5_000;

/**
 * The share of its time that a thread works. Without requests and jobs it is below the first, and a load that leaves garbage is above the
 * second. A few requests a second are between them: they are not worth a collection, which would keep them waiting for a tenth of a second.
 */
const idleBelow = 0.02;
const busyAbove = 0.1;

// V8 collects when a heap grows, and an idle heap does not: the garbage of the last load would stay until the next load.
const collect = findCollector();
let before = performance.eventLoopUtilization();
let worked = true;
setInterval(() => {
  const now = performance.eventLoopUtilization();
  const { utilization } = performance.eventLoopUtilization(now, before);
  before = now;
  if (utilization > busyAbove) worked = true;
  if (!worked || utilization >= idleBelow) return;
  worked = false;
  collect({ type: 'major', flavor: 'last-resort' });
}, checkMs).unref();

/** V8's `gc`, which only a context has that was made under the flag. The flag is unset again, so that workflows do not have it. */
function findCollector(): (options: { type: 'major'; flavor: 'last-resort' }) => void {
  setFlagsFromString('--expose-gc');
  const found = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return found;
}
