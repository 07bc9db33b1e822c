import { ConfigurationError, type Environment } from '../../base/config/environment.ts';
import { inheritedEnvironment, type LocalConfig } from '../../base/config/local.ts';
import { claimDataDir } from './data-directory.ts';
import { checkPorts } from './ports.ts';
import { Progress } from './progress.ts';
import { serviceNames } from './service-names.ts';
import { type ServiceName, type Stack, type StackOptions, startStack } from './stack.ts';

interface LocalServiceOptions extends Pick<StackOptions, 'abort' | 'onServiceExit'> {
  /** Shows the progress of the start. */
  stream: NodeJS.WriteStream;
  /** Whether others that run on the same data directory may use the service. */
  shared: boolean;
  /** Variables beside those of the configuration. */
  env?: Environment;
}

/** The whole service on this machine. It holds the data directory until it is stopped. */
interface LocalService {
  stack: Stack;
  stop(): Promise<void>;
}

/**
 * Starts the whole service on this machine, except for those services that the environment gives an address of. Throws an error for the user
 * if the data directory or a port is taken, or a service does not start; then nothing keeps running.
 */
export async function startLocalService(config: LocalConfig, options: LocalServiceOptions): Promise<LocalService> {
  if (config.programProblems.length > 0) throw new ConfigurationError([...new Set(config.programProblems)]);
  const services = servicesToStart(config);
  const claim = await claimDataDir(config.dataDir);
  let guardPid = 0;
  try {
    await checkPorts(config.ports, services);
    const hasWorker = config.overrides.WORKER_ENABLED !== 'false';
    const progress = new Progress(options.stream, hasWorker ? serviceNames : { ...serviceNames, api: 'API' });
    const stack = await startStack({
      dataDir: config.dataDir,
      services,
      ports: config.ports,
      external: config.external,
      env: { ...everything(inheritedEnvironment()), ...config.overrides, ...options.env },
      log: progress.on,
      onGuard: (pid) => {
        guardPid = pid;
        claim.record({ guardPid });
      },
      ...(options.abort ? { abort: options.abort } : {}),
      ...(options.onServiceExit ? { onServiceExit: options.onServiceExit } : {}),
    }).finally(() => progress.end());
    if (options.shared) claim.record({ guardPid, apiUrl: stack.apiUrl, temporalUiUrl: stack.env.TEMPORAL_UI_URL });
    return { stack, stop: () => stack.stop().finally(() => claim.release()) };
  } catch (error) {
    claim.release();
    throw error;
  }
}

function servicesToStart({ external }: LocalConfig): ServiceName[] {
  const embedded: [ServiceName, string | undefined][] = [
    ['postgres', external.databaseUrl],
    ['temporal', external.temporalAddress],
    ['ai', external.aiUrl],
  ];
  return [...embedded.flatMap(([service, address]) => (address === undefined ? [service] : [])), 'api'];
}

/** What the programs leave off where nothing is set, for clients that do not know it or for its cost: someone who tries the service has it on. */
export function everything({
  OCR_SCANNED_PDF,
  OCR_PROVIDER,
  EXTRA_CONTENT_TYPES,
  EXTRA_JOB_KINDS,
  WEBHOOKS_ENABLED,
  SEARCH_DEFAULT_MODE,
  LOCAL_EMBED_MODEL,
}: Environment): Environment {
  return {
    OCR_SCANNED_PDF: OCR_SCANNED_PDF || String(OCR_PROVIDER !== 'none'),
    EXTRA_CONTENT_TYPES: EXTRA_CONTENT_TYPES || 'all',
    EXTRA_JOB_KINDS: EXTRA_JOB_KINDS ?? 'document.process',
    // Receivers on this machine and in private networks stay out of reach, unless WEBHOOKS_ALLOWED_NETWORKS names them.
    WEBHOOKS_ENABLED: WEBHOOKS_ENABLED || 'true',
    SEARCH_DEFAULT_MODE: SEARCH_DEFAULT_MODE || 'hybrid',
    // Beside a remote model it embeds for what it has indexed.
    LOCAL_EMBED_MODEL: LOCAL_EMBED_MODEL || 'e5,hash',
  };
}
