import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
setFlagsFromString('--no-expose-gc');

/** Collects what nothing refers to, also what is let go of in later turns of the event loop. */
export async function collectGarbage(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await delay(10);
    collect();
  }
}
