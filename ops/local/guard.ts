import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export interface Guard {
  pid: number;
  /** A child registers here, with `add PID SIGNAL`. */
  input: Writable;
  /** Forgets a process that has ended. */
  drop(pid: number): void;
  close(): void;
}

/** Starts the script that ends the registered processes once this process is gone. Its session is its own, so that no terminal ends it. */
export function startGuard(): Guard {
  const script = fileURLToPath(new URL('guard.sh', import.meta.url));
  const child = spawn('/bin/sh', [script], { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const { pid, stdin } = child;
  if (pid === undefined) throw new Error('The guard of the local processes could not be started: is there a /bin/sh?');
  // If the guard is killed, nothing else fails.
  stdin.on('error', () => undefined);
  child.unref();
  (stdin as Writable & { unref?: () => void }).unref?.();
  return {
    pid,
    input: stdin,
    drop: (ended) => {
      if (stdin.writable) stdin.write(`drop ${ended}\n`);
    },
    close: () => stdin.end(),
  };
}
