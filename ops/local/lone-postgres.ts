import { join } from 'node:path';
import { claimDataDir } from './data-directory.ts';
import { rotate } from './log-file.ts';
import { findFreePorts } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { createSupervisor } from './supervise.ts';

/** The embedded Postgres of a data directory, with nothing else of the service. It holds the directory until it is stopped. */
export interface LonePostgres {
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts the embedded Postgres of a data directory alone, on a free port, and makes its files if there are none. No service starts there
 * meanwhile. Throws an error for the user if something holds the directory already, or Postgres does not start.
 */
export async function startLonePostgres(dataDir: string, note: (message: string) => void): Promise<LonePostgres> {
  const claim = await claimDataDir(dataDir);
  const supervisor = createSupervisor();
  const stop = () => supervisor.close().finally(() => claim.release());
  try {
    // A start that comes after a kill of this process waits until the guard has ended Postgres.
    claim.record({ guardPid: supervisor.guardPid });
    const logFile = join(dataDir, 'logs', 'postgres.log');
    rotate(logFile);
    // A port of its own: that of the configuration may be in use by a service on another directory.
    const [port = 0] = await findFreePorts(1);
    const { url } = await startPostgres(supervisor, { dataDir, port, logFile, durable: true, note });
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
