import { setTimeout as delay } from 'node:timers/promises';
import { createClient, SheafError } from '../client/index.ts';
import type { DemoConfig } from '../config/demo.ts';
import type { LocalConfig } from '../config/local.ts';
import { workflowIds } from '../workflows/definitions.ts';
import { findHolder } from './claim-data-dir.ts';
import type { Display } from './demo-display.ts';
import { startLocalService } from './local-service.ts';
import { partNames } from './progress.ts';
import { describeExit } from './supervise.ts';

/** A service that the demo may use. */
export interface DemoService {
  url: string;
  version: string;
  /** Where one job's workflow is seen; undefined where nobody has said where Temporal's UI is. */
  workflowUrl(jobId: string): string | undefined;
  /** Whether it runs only for the demo. */
  own: boolean;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  demo: DemoConfig;
  local: LocalConfig;
  display: Display;
  stream: NodeJS.WriteStream;
  signal: AbortSignal;
  /** Called when a part of a service that the demo started ends by itself. */
  onCrash: (error: Error) => void;
}

/**
 * The service that SHEAF_URL names, else the one that runs on this machine, else one that is started for the demo. Throws an error for
 * the user when there is none.
 */
export async function openService(options: ServiceOptions): Promise<DemoService> {
  const { demo, local, signal } = options;
  if (demo.url !== undefined) {
    const uiUrl = demo.temporalUiUrl ?? (isLocal(demo.url) ? localUiUrl(local) : undefined);
    return { ...describe(options, demo.url, uiUrl), version: await versionOf(demo.url, signal) };
  }
  return (await findLocalService(options)) ?? (await startOwnService(options));
}

async function findLocalService(options: ServiceOptions): Promise<DemoService | undefined> {
  const { demo, local, display, signal } = options;
  for (let waited = false; ; waited = true) {
    const holder = findHolder(local.dataDir);
    const url = holder ? holder.apiUrl : `http://localhost:${local.ports.api}`;
    const version = url === undefined ? undefined : await versionOf(url, signal).catch(() => undefined);
    if (url !== undefined && version !== undefined) {
      return { ...describe(options, url, demo.temporalUiUrl ?? holder?.temporalUiUrl ?? localUiUrl(local)), version };
    }
    if (!holder) return undefined;
    if (!waited) display.line(`Waiting for what starts or stops on ${local.dataDir} (process ${holder.pid ?? 'unknown'}) …`, 0);
    await delay(500, undefined, { signal });
  }
}

async function startOwnService(options: ServiceOptions): Promise<DemoService> {
  const { local, display, stream, signal, onCrash } = options;
  display.line('No service runs here: starting one for the time of the demo.', 0);
  let started = false;
  const { stack, stop } = await startLocalService(local, {
    stream,
    shared: false,
    abort: signal,
    onPartExit: (part, exit) => {
      // A start that fails says itself what failed; the other parts end with it.
      if (started) onCrash(new Error(`${partNames[part]} ${describeExit(exit)} during the demo. Logs: ${local.dataDir}/logs`));
    },
  });
  started = true;
  try {
    const version = await versionOf(stack.apiUrl, signal);
    return { ...describe(options, stack.apiUrl, stack.env.TEMPORAL_UI_URL), version, own: true, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function describe({ demo }: ServiceOptions, url: string, uiUrl: string | undefined): Omit<DemoService, 'version'> {
  const workflows = `${uiUrl}/namespaces/${encodeURIComponent(demo.temporalNamespace)}/workflows`;
  return {
    url,
    own: false,
    workflowUrl: (jobId) => (uiUrl === undefined ? undefined : `${workflows}/${workflowIds.runJob(jobId)}`),
    stop: async () => undefined,
  };
}

async function versionOf(url: string, signal: AbortSignal): Promise<string> {
  try {
    return (await createClient({ url, retries: { attempts: 1 } }).system.health({}, { signal })).version;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SheafError && error.status === 0 && !error.is('UNEXPECTED_ANSWER')) {
      throw new Error(`${url} does not answer.`, { cause: error });
    }
    throw new Error(`What answers at ${url} is not this service.`, { cause: error });
  }
}

function isLocal(url: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
}

function localUiUrl(local: LocalConfig): string {
  return local.external.temporalUiUrl ?? `http://localhost:${local.ports.temporalUi}`;
}
