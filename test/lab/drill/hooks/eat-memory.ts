// Imported before the program: at SIGUSR2 it fills its heap until V8 ends the process.
import { isMainThread } from 'node:worker_threads';

const eaten: object[] = [];

function eat(): void {
  for (let n = 0; n < 100_000; n++) eaten.push({ n, text: `bread ${n}` });
  setImmediate(eat);
}

if (isMainThread) process.on('SIGUSR2', eat);
