import { mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Environment } from '../config/environment.ts';
import { rotate } from './log-files.ts';
import { startPart } from './parts.ts';
import { findFreePorts, reachableHost } from './ports.ts';
import { keepSecrets, type Secrets } from './secrets.ts';
import type { Addresses, PartName, Ports, Stack, StackOptions } from './stack-types.ts';
import { createSupervisor, type Exit, type RunningProcess, type Supervisor } from './supervise.ts';

export type { PartEvent, PartName, Ports, Stack, StackOptions } from './stack-types.ts';

const defaultParts: PartName[] = ['postgres', 'temporal', 'ai', 'api'];
const stopOrder: PartName[][] = [['api', 'worker'], ['ai'], ['temporal', 'postgres']];
const needs: Record<PartName, PartName[]> = {
  postgres: [],
  temporal: [],
  ai: [],
  api: ['postgres', 'temporal'],
  worker: ['postgres', 'temporal'],
};

/**
 * Starts the local stack, or any part of it, in parallel where parts do not need each other. Whatever is started ends with this process,
 * even by SIGKILL. Throws the first failure, or the reason of the abort signal, after everything is stopped again.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const dataDir = makeDataDir(options.dataDir);
  const stack = new LocalStack(dataDir, await choosePorts(options.ports ?? {}), options);
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

class LocalStack implements Stack {
  readonly dataDir: string;
  readonly ports: Ports;
  readonly supervisor: Supervisor = createSupervisor();
  readonly #options: StackOptions;
  readonly #parts: PartName[];
  readonly #secrets: Secrets;
  readonly #addresses: Addresses;
  readonly #running = new Map<PartName, RunningProcess>();
  readonly #expectedToEnd = new WeakSet<RunningProcess>();

  constructor(dataDir: string, ports: Ports, options: StackOptions) {
    this.dataDir = dataDir;
    this.ports = ports;
    this.#options = options;
    this.#parts = options.parts ?? defaultParts;
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

  get env(): Environment {
    return {
      DATABASE_URL: this.#addresses.databaseUrl,
      TEMPORAL_ADDRESS: this.#addresses.temporalAddress,
      TEMPORAL_UI_URL: this.#addresses.temporalUiUrl,
      AI_SERVICE_URL: this.#addresses.aiUrl ?? `http://${reachableHost(this.#options.env?.AI_HOST)}:${this.ports.ai}`,
      SERVICE_TOKEN: this.#secrets.serviceToken,
      AUTH_SECRET: this.#secrets.authSecret,
      DATA_DIR: this.dataDir,
      AI_PORT: String(this.ports.ai),
      PORT: String(this.ports.api),
      API_URL: this.apiUrl,
      WORKER_ENABLED: String(!this.#parts.includes('worker')),
      ...this.#options.env,
    };
  }

  pid(part: PartName): number | undefined {
    return this.#running.get(part)?.pid;
  }

  logPath(part: PartName): string {
    return join(this.dataDir, 'logs', `${part}.log`);
  }

  readLog(part: PartName): string {
    return readFileSync(this.logPath(part), 'utf8');
  }

  async startAll(): Promise<void> {
    for (const part of this.#parts) rotate(this.logPath(part));
    const starts = new Map<PartName, Promise<void>>();
    const startOnce = (part: PartName): Promise<void> => {
      const needed = needs[part].filter((need) => this.#parts.includes(need));
      const start = starts.get(part) ?? Promise.all(needed.map(startOnce)).then(() => this.start(part));
      starts.set(part, start);
      return start;
    };
    try {
      await Promise.all(this.#parts.map(startOnce));
    } catch (error) {
      // The other starts end at once, instead of holding the failure back.
      await this.supervisor.close();
      await Promise.allSettled(starts.values());
      throw error;
    }
  }

  async start(part: PartName, env: Environment = {}): Promise<void> {
    if (this.#running.has(part)) throw new Error(`The part ${part} runs already.`);
    const { log, durable = true, temporalUi = true } = this.#options;
    log?.({ part, state: 'starting' });
    const process = await startPart(part, {
      supervisor: this.supervisor,
      dataDir: this.dataDir,
      ports: this.ports,
      addresses: this.#addresses,
      env: { ...this.env, ...env },
      logFile: this.logPath(part),
      durable,
      temporalUi,
      note: (message) => log?.({ part, state: 'note', message }),
    });
    this.#running.set(part, process);
    void process.exited.then((exit) => this.#ended(part, process, exit));
    log?.({ part, state: 'ready' });
  }

  signal(part: PartName, signal: NodeJS.Signals): void {
    this.#get(part).signal(signal);
  }

  async kill(part: PartName, signal: NodeJS.Signals = 'SIGKILL'): Promise<Exit> {
    const process = this.#get(part);
    this.#expectedToEnd.add(process);
    return await process.kill(signal);
  }

  async restart(part: PartName, env?: Environment): Promise<void> {
    await this.#end(part);
    await this.start(part, env);
  }

  async stop(): Promise<void> {
    for (const group of stopOrder) await Promise.all(group.map((part) => this.#end(part)));
    await this.supervisor.close();
  }

  #ended(part: PartName, process: RunningProcess, exit: Exit): void {
    if (this.#running.get(part) === process) this.#running.delete(part);
    if (!this.#expectedToEnd.has(process)) this.#options.onPartExit?.(part, exit);
  }

  async #end(part: PartName): Promise<void> {
    const process = this.#running.get(part);
    if (!process) return;
    this.#expectedToEnd.add(process);
    await process.stop();
    this.#running.delete(part);
  }

  #get(part: PartName): RunningProcess {
    const process = this.#running.get(part);
    if (!process) throw new Error(`The part ${part} does not run.`);
    return process;
  }

  #address(name: keyof Addresses): string {
    const value = this.#addresses[name];
    if (value === undefined) throw new Error(`The stack has no ${name}: the part is not started.`);
    return value;
  }
}

async function choosePorts(wanted: Partial<Ports>): Promise<Ports> {
  const free = await findFreePorts(5);
  const choose = (port: number | undefined) => port || (free.pop() ?? 0);
  return {
    postgres: choose(wanted.postgres),
    temporal: choose(wanted.temporal),
    temporalUi: choose(wanted.temporalUi),
    ai: choose(wanted.ai),
    api: choose(wanted.api),
  };
}

function makeDataDir(path: string): string {
  mkdirSync(resolve(path), { recursive: true, mode: 0o700 });
  return realpathSync(path);
}
