// Loaded before the API and the worker, and in each of their threads (`--import`): gives memory back when there is nothing to do.
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const lookMs = 5_000;

/** The part of its time that a thread works; without requests and jobs it is well below this. */
const idleBelow = 0.1;

// V8 collects when a heap has grown, and one that is idle does not grow: what the last load left would stay until the next one.
const collect = findCollector();
let before = performance.eventLoopUtilization();
let worked = true;
setInterval(() => {
  const now = performance.eventLoopUtilization();
  const idle = performance.eventLoopUtilization(now, before).utilization < idleBelow;
  before = now;
  if (idle && worked) collect({ type: 'major', flavor: 'last-resort' });
  worked = !idle;
}, lookMs).unref();

/** V8's own collector, which only a context made under the flag has; those that workflows run in have none. */
function findCollector(): (options: { type: 'major'; flavor: 'last-resort' }) => void {
  setFlagsFromString('--expose-gc');
  const found = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return found;
}
