import ora, { type Ora } from 'ora';
import { type ServiceName, serviceNames } from './service-names.ts';
import type { ServiceEvent } from './stack.ts';

const firstLineMs = 1000;
const repeatMs = 15_000;

interface Pending {
  since: number;
  message: string;
  /** When its next line is due, if there is no terminal. */
  dueAt: number;
}

/** A spinner that prints nothing unless it is on a terminal. */
export function createSpinner(stream: NodeJS.WriteStream): Ora {
  // A terminal that does not know its width reports 0, with which ora never returns.
  const isSilent = !stream.isTTY || !stream.columns;
  return ora({ stream, isSilent, indent: 2, discardStdin: false });
}

/**
 * Shows the start of services: a line when one is ready, and a line for what takes over a second. A spinner on a terminal, or else a line
 * every 15 s, shows what is under way.
 */
export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #names: Record<ServiceName, string>;
  readonly #spinner;
  readonly #pending = new Map<ServiceName, Pending>();
  readonly #timer: NodeJS.Timeout;

  constructor(stream: NodeJS.WriteStream, names = serviceNames) {
    this.#stream = stream;
    this.#names = names;
    this.#spinner = createSpinner(stream);
    this.#timer = setInterval(() => this.#tick(), 1000).unref();
  }

  readonly on = ({ service, state, message = 'starting' }: ServiceEvent): void => {
    const now = performance.now();
    const { since } = this.#pending.get(service) ?? { since: now };
    this.#pending.set(service, { since, message, dueAt: now + firstLineMs });
    if (state === 'note') this.#say(service, now);
    if (state !== 'ready') return;
    this.#pending.delete(service);
    this.line(`${this.#names[service]} is ready (${((now - since) / 1000).toFixed(1)} s)`);
  };

  end(): void {
    clearInterval(this.#timer);
    this.#spinner.stop();
  }

  #tick(): void {
    const now = performance.now();
    const text = [...this.#pending]
      .map(([service, { since }]) => `${this.#names[service]} ${Math.round((now - since) / 1000)} s`)
      .join(', ');
    if (text === '') this.#spinner.stop();
    else this.#spinner.start(text);
    if (this.#spinner.isSilent) for (const [service, { dueAt }] of this.#pending) if (now > dueAt) this.#say(service, now);
  }

  #say(service: ServiceName, now: number): void {
    const pending = this.#pending.get(service);
    if (!pending) return;
    pending.dueAt = now + repeatMs;
    const took = now - pending.since;
    this.line(`${this.#names[service]}: ${pending.message} …${took > 5000 ? ` (${Math.round(took / 1000)} s)` : ''}`);
  }

  line(text: string): void {
    this.#stream.write(`  ${text}\n`);
  }
}
