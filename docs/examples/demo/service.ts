import { setTimeout as delay } from 'node:timers/promises';
import { type DemoConfig, loadDemoConfig } from '../../../base/config/demo.ts';
import { inheritedEnvironment, type LocalConfig, loadLocalConfig } from '../../../base/config/local.ts';
import { createClient, SheafError } from '../../../clients/typescript/index.ts';
import { workflowIds } from '../../../contract/intents/definitions.ts';
import { findHolder } from '../../../ops/local/data-directory.ts';
import { startLocalService } from '../../../ops/local/local-service.ts';
import type { WorkflowPages } from './report.ts';
import type { Screen } from './screen.ts';
import { type CrashWatch, watchCrashes } from './watch-crashes.ts';

/** A service that the demo may use. */
interface Service {
  url: string;
  version: string;
  pages: WorkflowPages;
  /** Only of a service that runs for the demo alone. */
  stop?: () => Promise<void>;
}

interface Search {
  demo: DemoConfig;
  local: LocalConfig;
  screen: Screen;
  signal: AbortSignal;
}

/**
 * The service that SHEAF_URL names, or else the one that runs on this machine, or else one that is started for the demo. `signal` ends the
 * search. The signal of the result aborts with it, or if the demo's own service crashes. Throws an error for the user if there is none.
 */
export async function openService(screen: Screen, signal: AbortSignal): Promise<{ service: Service; signal: AbortSignal }> {
  const environment = inheritedEnvironment();
  const search = { demo: loadDemoConfig(environment), local: loadLocalConfig(environment), screen, signal };
  const crashes = watchCrashes(search.local);
  const { url } = search.demo;
  const isLocal = url !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
  const service =
    url !== undefined
      ? await connect(search, url, isLocal ? localUiUrl(search.local) : undefined)
      : ((await findLocalService(search)) ?? (await startOwnService(search, crashes)));
  return { service, signal: AbortSignal.any([signal, crashes.signal]) };
}

async function findLocalService(search: Search): Promise<Service | undefined> {
  const { local, screen, signal } = search;
  for (let waited = false; ; waited = true) {
    const holder = findHolder(local.dataDir);
    const url = holder ? holder.apiUrl : `http://localhost:${local.ports.api}`;
    const service = url && (await connect(search, url, holder?.temporalUiUrl ?? localUiUrl(local)).catch(() => undefined));
    if (service) return service;
    if (!holder) return undefined;
    if (!waited) screen.line(`Waiting for what starts or stops on ${local.dataDir} (process ${holder.pid ?? 'unknown'}) …`, 0);
    await delay(500, undefined, { signal });
  }
}

async function startOwnService(search: Search, { onServiceExit }: CrashWatch): Promise<Service> {
  const { local, screen, signal } = search;
  screen.line('No service runs here: starting one for the time of the demo.', 0);
  screen.line('Run npm start first, and the demo ends with a link to its documents in the console.', 0);
  const { stack, stop } = await startLocalService(local, { stream: screen.stream, shared: false, abort: signal, onServiceExit });
  return await connect(search, stack.apiUrl, stack.env.TEMPORAL_UI_URL).then(
    (service) => ({ ...service, stop }),
    (error) => stop().then(() => Promise.reject(error)),
  );
}

/** Throws an error for the user if nothing responds at the address, or something that is not this service. */
async function connect({ demo, signal }: Search, url: string, foundUiUrl: string | undefined): Promise<Service> {
  const uiUrl = demo.temporalUiUrl ?? foundUiUrl;
  const workflows = `${uiUrl}/namespaces/${encodeURIComponent(demo.temporalNamespace)}/workflows`;
  const pages: WorkflowPages = {
    job: (jobId) => (uiUrl === undefined ? undefined : `${workflows}/${workflowIds.runJob(jobId)}`),
    organization: (organizationId) =>
      uiUrl === undefined ? undefined : `${workflows}?query=${encodeURIComponent(`OrganizationId="${organizationId}"`)}`,
  };
  try {
    const { version } = await createClient({ url, retries: { attempts: 1 } }).system.health({}, { signal });
    return { url, version, pages };
  } catch (error) {
    signal.throwIfAborted();
    const isSilent = error instanceof SheafError && error.status === 0 && !error.is('UNEXPECTED_ANSWER');
    throw new Error(isSilent ? `${url} does not respond.` : `What responds at ${url} is not this service.`, { cause: error });
  }
}

function localUiUrl(local: LocalConfig): string {
  return local.external.temporalUiUrl ?? `http://localhost:${local.ports.temporalUi}`;
}
