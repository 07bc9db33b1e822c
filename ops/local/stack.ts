import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../base/config/environment.ts';
import { nothingOutside } from '../../base/config/local.ts';
import { changeVariables } from '../../base/config/secret-files.ts';
import { makeDataDir } from './data-directory.ts';
import { rotate } from './log-file.ts';
import { findFreePorts, reachableHost } from './ports.ts';
import { keepSecrets, type Secrets } from './secrets.ts';
import type { ServiceName } from './service-names.ts';
import { type Addresses, type Ports, startService } from './services.ts';
import { createSupervisor, type Exit, type RunningProcess, type Supervisor } from './supervise.ts';

export type { ServiceName } from './service-names.ts';

export interface ServiceEvent {
  service: ServiceName;
  state: 'starting' | 'note' | 'ready';
  /** With `note`: reports slow steps. */
  message?: string;
}

export interface StackOptions {
  /** Holds everything; made if absent. */
  dataDir: string;
  /** By default all but the separate worker. */
  services?: ServiceName[];
  /** A port that is absent or 0 is a free one. */
  ports?: Partial<Ports>;
  /** The addresses of the services that are not started here. */
  external?: Addresses;
  /** False, for tests: Postgres does not wait for the disk, and Temporal keeps everything in memory. True by default. */
  durable?: boolean;
  /** Whether Temporal's web UI runs; true by default. */
  temporalUi?: boolean;
  /** Variables for the AI service, the API and the worker; they override those of the stack. */
  env?: Environment;
  /** Ends a start that is under way. */
  abort?: AbortSignal;
  log?: (event: ServiceEvent) => void;
  /** Called at once with the process id of the guard, which ends the services if this process dies. */
  onGuard?: (pid: number) => void;
  /** Called when a service ends without having been stopped or killed through the stack. */
  onServiceExit?: (service: ServiceName, exit: Exit) => void;
}

const defaultServices: ServiceName[] = ['postgres', 'temporal', 'ai', 'api'];
const stopOrder: ServiceName[][] = [['api', 'worker'], ['ai'], ['temporal', 'postgres']];
const needs: Record<ServiceName, ServiceName[]> = {
  postgres: [],
  temporal: [],
  ai: [],
  api: ['postgres', 'temporal'],
  worker: ['postgres', 'temporal'],
};

/**
 * Starts the local stack, or some of its services, in parallel if they do not need each other. The services end with this process, even if
 * it is killed. Throws the first failure, or the reason of the abort signal, after everything is stopped.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const dataDir = makeDataDir(options.dataDir);
  const stack = new Stack(dataDir, await choosePorts(options.ports ?? {}), options);
  options.onGuard?.(stack.supervisor.guardPid);
  const abort = () => void stack.supervisor.close();
  options.abort?.addEventListener('abort', abort);
  try {
    options.abort?.throwIfAborted();
    await stack.startAll();
    options.abort?.throwIfAborted();
    return stack;
  } catch (error) {
    await stack.stop();
    throw options.abort?.aborted ? options.abort.reason : error;
  } finally {
    options.abort?.removeEventListener('abort', abort);
  }
}

/** A running stack. A service that is neither started here nor external has no address: it is undefined in `env`, and its getter throws. */
export class Stack {
  readonly dataDir: string;
  readonly ports: Ports;
  /** Runs other processes that must not outlive this one. */
  readonly supervisor: Supervisor = createSupervisor();
  readonly #options: StackOptions;
  readonly #services: ServiceName[];
  readonly #secrets: Secrets;
  readonly #addresses: Addresses;
  readonly #running = new Map<ServiceName, RunningProcess>();
  readonly #expectedToEnd = new WeakSet<RunningProcess>();

  constructor(dataDir: string, ports: Ports, options: StackOptions) {
    this.dataDir = dataDir;
    this.ports = ports;
    this.#options = options;
    this.#services = options.services ?? defaultServices;
    this.#secrets = keepSecrets(dataDir);
    this.#addresses = { ...options.external };
  }

  get databaseUrl(): string {
    return this.#address('databaseUrl');
  }

  get temporalAddress(): string {
    return this.#address('temporalAddress');
  }

  get temporalUiUrl(): string {
    return this.#address('temporalUiUrl');
  }

  get aiUrl(): string {
    return this.#address('aiUrl');
  }

  get apiUrl(): string {
    return `http://${reachableHost(this.#options.env?.HOST, 'localhost')}:${this.ports.api}`;
  }

  get serviceToken(): string {
    return this.env.SERVICE_TOKEN ?? this.#secrets.serviceToken;
  }

  /** The variables of the API and the worker: DATABASE_URL, TEMPORAL_ADDRESS, AI_SERVICE_URL, secrets and so on. */
  get env(): Environment {
    const chosen = {
      ...nothingOutside,
      DATABASE_URL: this.#addresses.databaseUrl,
      TEMPORAL_ADDRESS: this.#addresses.temporalAddress,
      TEMPORAL_UI_URL: this.#addresses.temporalUiUrl,
      AI_SERVICE_URL: this.#addresses.aiUrl ?? `http://127.0.0.1:${this.ports.ai}`,
      SERVICE_TOKEN: this.#secrets.serviceToken,
      AUTH_SECRET: this.#secrets.authSecret,
      DATA_DIR: this.dataDir,
      AI_PORT: String(this.ports.ai),
      PORT: String(this.ports.api),
      API_URL: this.apiUrl,
      WORKER_ENABLED: String(!this.#services.includes('worker')),
      ...this.#options.env,
    };
    // With blanks of the files that this process may have got secrets in.
    return changeVariables({}, chosen);
  }

  pid(service: ServiceName): number | undefined {
    return this.#running.get(service)?.pid;
  }

  logPath(service: ServiceName): string {
    return join(this.dataDir, 'logs', `${service}.log`);
  }

  /** The log of the service since the start of the stack. */
  readLog(service: ServiceName): string {
    return readFileSync(this.logPath(service), 'utf8');
  }

  /** Starts every service once those that it needs are ready. */
  async startAll(): Promise<void> {
    for (const service of this.#services) rotate(this.logPath(service));
    const starts = new Map<ServiceName, Promise<void>>();
    const startOnce = (service: ServiceName): Promise<void> => {
      const needed = needs[service].filter((need) => this.#services.includes(need));
      const start = starts.get(service) ?? Promise.all(needed.map(startOnce)).then(() => this.start(service));
      starts.set(service, start);
      return start;
    };
    try {
      await Promise.all(this.#services.map(startOnce));
    } catch (error) {
      // The other starts end now, so that the failure is reported at once.
      await this.supervisor.close();
      await Promise.allSettled(starts.values());
      throw error;
    }
  }

  /** Starts a service that was not started yet, or has ended. */
  async start(service: ServiceName, env: Environment = {}): Promise<void> {
    if (this.#running.has(service)) throw new Error(`The service ${service} runs already.`);
    const { log, durable = true, temporalUi = true } = this.#options;
    log?.({ service, state: 'starting' });
    const process = await startService(service, {
      supervisor: this.supervisor,
      dataDir: this.dataDir,
      ports: this.ports,
      addresses: this.#addresses,
      env: { ...this.env, ...env },
      logFile: this.logPath(service),
      durable,
      temporalUi,
      note: (message) => log?.({ service, state: 'note', message }),
    });
    this.#running.set(service, process);
    void process.exited.then((exit) => this.#ended(service, process, exit));
    log?.({ service, state: 'ready' });
  }

  /** Sends a signal and returns, for SIGSTOP and SIGCONT. */
  signal(service: ServiceName, signal: NodeJS.Signals): void {
    this.#get(service).signal(signal);
  }

  /** Ends a service with a signal, SIGKILL when absent, and waits until it is gone. */
  async kill(service: ServiceName, signal: NodeJS.Signals = 'SIGKILL'): Promise<Exit> {
    const process = this.#get(service);
    this.#expectedToEnd.add(process);
    return await process.kill(signal);
  }

  /** Stops a service, and starts it on the same port with the same data. */
  async restart(service: ServiceName, env?: Environment): Promise<void> {
    await this.#end(service);
    await this.start(service, env);
  }

  /** Stops all services in order: the API and the worker first, the databases last. */
  async stop(): Promise<void> {
    for (const group of stopOrder) await Promise.all(group.map((service) => this.#end(service)));
    await this.supervisor.close();
  }

  #ended(service: ServiceName, process: RunningProcess, exit: Exit): void {
    if (this.#running.get(service) === process) this.#running.delete(service);
    if (!this.#expectedToEnd.has(process)) this.#options.onServiceExit?.(service, exit);
  }

  async #end(service: ServiceName): Promise<void> {
    const process = this.#running.get(service);
    if (!process) return;
    this.#expectedToEnd.add(process);
    await process.stop();
    this.#running.delete(service);
  }

  #get(service: ServiceName): RunningProcess {
    const process = this.#running.get(service);
    if (!process) throw new Error(`The service ${service} does not run.`);
    return process;
  }

  #address(name: keyof Addresses): string {
    const value = this.#addresses[name];
    if (value === undefined) throw new Error(`The stack has no ${name}: the service is not started.`);
    return value;
  }
}

async function choosePorts(wanted: Partial<Ports>): Promise<Ports> {
  const names = ['postgres', 'temporal', 'temporalUi', 'ai', 'api'] as const;
  const free = await findFreePorts(names.length);
  return Object.fromEntries(names.map((name, index) => [name, wanted[name] || free[index]])) as unknown as Ports;
}
