import ora, { type Ora } from 'ora';
import type { PartEvent, PartName } from './stack-types.ts';

/** What people call a part. */
export const partNames: Record<PartName, string> = {
  postgres: 'Postgres',
  temporal: 'Temporal',
  ai: 'AI service',
  api: 'API with worker',
  worker: 'Worker',
};

const firstLineMs = 1000;
const repeatMs = 15_000;

interface Pending {
  since: number;
  message: string;
  /** When its next line is due, where there is no terminal. */
  dueAt: number;
}

/** A spinner that prints nothing unless it is on a terminal. */
export function createSpinner(stream: NodeJS.WriteStream): Ora {
  // A terminal that does not know its width says 0, on which ora never returns.
  const isSilent = !stream.isTTY || !stream.columns;
  return ora({ stream, isSilent, indent: 2, discardStdin: false });
}

/**
 * Shows how parts come up: a line when one is ready, and a line for what takes over a second. On a terminal a spinner shows what is under
 * way; elsewhere a line every 15 s does.
 */
export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #spinner;
  readonly #pending = new Map<PartName, Pending>();
  readonly #timer: NodeJS.Timeout;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.#spinner = createSpinner(stream);
    this.#timer = setInterval(() => this.#tick(), 1000).unref();
  }

  readonly on = ({ part, state, message = 'starting' }: PartEvent): void => {
    const now = performance.now();
    const { since } = this.#pending.get(part) ?? { since: now };
    this.#pending.set(part, { since, message, dueAt: now + firstLineMs });
    if (state === 'note') this.#say(part, now);
    if (state !== 'ready') return;
    this.#pending.delete(part);
    this.#line(`${partNames[part]} is ready (${((now - since) / 1000).toFixed(1)} s)`);
  };

  end(): void {
    clearInterval(this.#timer);
    this.#spinner.stop();
  }

  #tick(): void {
    const now = performance.now();
    const text = [...this.#pending].map(([part, { since }]) => `${partNames[part]} ${Math.round((now - since) / 1000)} s`).join(', ');
    if (text === '') this.#spinner.stop();
    else this.#spinner.start(text);
    if (this.#spinner.isSilent) for (const [part, { dueAt }] of this.#pending) if (now > dueAt) this.#say(part, now);
  }

  #say(part: PartName, now: number): void {
    const pending = this.#pending.get(part);
    if (!pending) return;
    pending.dueAt = now + repeatMs;
    const took = now - pending.since;
    this.#line(`${partNames[part]}: ${pending.message} …${took > 5000 ? ` (${Math.round(took / 1000)} s)` : ''}`);
  }

  #line(text: string): void {
    this.#stream.write(`  ${text}\n`);
  }
}
