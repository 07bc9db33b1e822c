import type { Environment } from '../config/environment.ts';
import type { Exit, Supervisor } from './supervise.ts';

/** A process of the local stack. With `worker` beside `api`, the API runs no worker inside. */
export type PartName = 'postgres' | 'temporal' | 'ai' | 'api' | 'worker';

export interface Ports {
  postgres: number;
  temporal: number;
  temporalUi: number;
  ai: number;
  api: number;
}

/** Where services are reached. */
export interface Addresses {
  databaseUrl?: string | undefined;
  temporalAddress?: string | undefined;
  temporalUiUrl?: string | undefined;
  aiUrl?: string | undefined;
}

export interface PartEvent {
  part: PartName;
  state: 'starting' | 'note' | 'ready';
  /** What takes long, with `note`. */
  message?: string;
}

export interface StackOptions {
  /** Everything is kept below it; made when absent. */
  dataDir: string;
  /** All but the separate worker when absent. */
  parts?: PartName[];
  /** A port that is absent or 0 is a free one. */
  ports?: Partial<Ports>;
  /** Services that run elsewhere, for parts that are not started here. */
  external?: Addresses;
  /** False (for tests): Postgres does not wait for the disk, and Temporal keeps everything in memory. True when absent. */
  durable?: boolean;
  /** Whether Temporal's web UI runs; true when absent. */
  temporalUi?: boolean;
  /** Variables for the AI service, the API and the worker, on top of what the stack tells them. */
  env?: Environment;
  /** Ends a start that is under way. */
  abort?: AbortSignal;
  log?: (event: PartEvent) => void;
  /** Told at once the process id of what ends the parts when this process dies. */
  onGuard?: (pid: number) => void;
  /** Called when a part ends without having been stopped or killed through the stack. */
  onPartExit?: (part: PartName, exit: Exit) => void;
}

/** A running stack. The address of a part that is neither started here nor given as external is undefined in `env`, and its getter throws. */
export interface Stack {
  readonly dataDir: string;
  readonly ports: Ports;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly temporalUiUrl: string;
  readonly aiUrl: string;
  readonly apiUrl: string;
  readonly serviceToken: string;
  /** The variables that the API and the worker get: DATABASE_URL, TEMPORAL_ADDRESS, AI_SERVICE_URL, secrets and so on. */
  readonly env: Environment;
  /** Runs further processes that must not outlive this one. */
  readonly supervisor: Supervisor;
  pid(part: PartName): number | undefined;
  logPath(part: PartName): string;
  /** The whole log of the part, from the start of the stack on. */
  readLog(part: PartName): string;
  /** Starts a part that was not started yet, or has ended. */
  start(part: PartName, env?: Environment): Promise<void>;
  /** Sends a signal and returns, for SIGSTOP and SIGCONT. */
  signal(part: PartName, signal: NodeJS.Signals): void;
  /** Ends a part with a signal, SIGKILL when absent, and waits until it is gone. */
  kill(part: PartName, signal?: NodeJS.Signals): Promise<Exit>;
  /** Ends a part as `stop` does, and starts it on the same port with the same data. */
  restart(part: PartName, env?: Environment): Promise<void>;
  /** Stops all parts in order: what serves requests first, databases last. */
  stop(): Promise<void>;
}
