import type { Terminal } from './terminal.ts';

const intervalMs = 100;

/** A line that shows how far a command is, if stderr is a terminal. */
interface Progress {
  show(text: string): void;
  /** Prints a line that stays, above the one that changes. */
  note(text: string): void;
  clear(): void;
}

export function createProgress({ env, stderr }: Terminal): Progress {
  const isShown = stderr.isTTY && env.TERM !== 'dumb';
  let shownAt = 0;
  const clear = () => {
    if (isShown) stderr.write('\r\u001b[2K');
  };
  return {
    show(text) {
      const now = Date.now();
      if (!isShown || now - shownAt < intervalMs) return;
      shownAt = now;
      // Longer than the terminal is wide, it could not be cleared again.
      stderr.write(`\r\u001b[2K${text.slice(0, (stderr.columns || 80) - 1)}`);
    },
    note(text) {
      clear();
      stderr.write(`${text}\n`);
    },
    clear,
  };
}
