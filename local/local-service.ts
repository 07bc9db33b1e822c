import type { LocalConfig } from '../config/local.ts';
import { claimDataDir } from './claim-data-dir.ts';
import { checkPorts } from './ports.ts';
import { Progress } from './progress.ts';
import { type PartName, type Stack, type StackOptions, startStack } from './stack.ts';

export interface LocalServiceOptions extends Pick<StackOptions, 'abort' | 'onPartExit'> {
  /** Where the parts are seen coming up. */
  stream: NodeJS.WriteStream;
  /** Whether others that run on the same data directory may use the service. */
  shared: boolean;
}

/** The whole service on this machine, and its hold on the data directory. */
export interface LocalService {
  stack: Stack;
  stop(): Promise<void>;
}

/**
 * Starts the whole service on this machine, but for what the environment names a service for. Throws an error for the user when the data
 * directory or a port is taken, or a part does not start; then nothing is left.
 */
export async function startLocalService(config: LocalConfig, options: LocalServiceOptions): Promise<LocalService> {
  const parts = partsToStart(config);
  const claim = await claimDataDir(config.dataDir);
  let guardPid = 0;
  try {
    await checkPorts(config.ports, parts);
    const progress = new Progress(options.stream);
    const stack = await startStack({
      dataDir: config.dataDir,
      parts,
      ports: config.ports,
      external: config.external,
      env: config.overrides,
      log: progress.on,
      onGuard: (pid) => {
        guardPid = pid;
        claim.record({ guardPid });
      },
      ...(options.abort ? { abort: options.abort } : {}),
      ...(options.onPartExit ? { onPartExit: options.onPartExit } : {}),
    }).finally(() => progress.end());
    if (options.shared) claim.record({ guardPid, apiUrl: stack.apiUrl, temporalUiUrl: stack.env.TEMPORAL_UI_URL });
    return { stack, stop: () => stack.stop().finally(() => claim.release()) };
  } catch (error) {
    claim.release();
    throw error;
  }
}

/** What the environment names a service for is not started. */
function partsToStart({ external }: LocalConfig): PartName[] {
  const embedded: [PartName, string | undefined][] = [
    ['postgres', external.databaseUrl],
    ['temporal', external.temporalAddress],
    ['ai', external.aiUrl],
  ];
  return [...embedded.flatMap(([part, address]) => (address === undefined ? [part] : [])), 'api'];
}
