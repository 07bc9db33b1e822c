import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { platform } from 'node:os';

/** The command line of a live process, its arguments joined by spaces; undefined when there is no such process or it has ended. */
export function commandOf(pid: number): string | undefined {
  if (platform() !== 'linux') return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() || undefined;
  try {
    // A zombie has no command line any more.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() || undefined;
  } catch {
    return undefined;
  }
}
