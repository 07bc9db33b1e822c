import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepLogs } from './run-secrets.ts';

/** Makes an empty directory below the system's temporary one. As root, others may pass through it, because Postgres runs as another user. */
export function makeTestDirectory(): string {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'sheaf-test-'));
  if (process.getuid?.() === 0) chmodSync(directory, 0o711);
  return directory;
}

/** Deletes what {@link makeTestDirectory} made, with everything in it but the logs, which the run searches when it ends. */
export function removeTestDirectory(directory: string): void {
  keepLogs(directory);
  rmSync(directory, { recursive: true, force: true });
}
