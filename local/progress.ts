import type { PartEvent, PartName } from './stack-types.ts';

/** What people call a part. */
export const partNames: Record<PartName, string> = {
  postgres: 'Postgres',
  temporal: 'Temporal',
  ai: 'AI service',
  api: 'API with worker',
  worker: 'Worker',
};

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const repeatMs = 15_000;

interface Pending {
  since: number;
  message: string;
  saidAt: number;
}

/**
 * Shows how parts come up: a line when one is ready, and a line for what takes over a second. On a terminal a spinner shows what is under
 * way; elsewhere a line every 15 s does.
 */
export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #names: Record<PartName, string>;
  readonly #pending = new Map<PartName, Pending>();
  readonly #timer: NodeJS.Timeout;
  #frame = 0;

  constructor(stream: NodeJS.WriteStream, names = partNames) {
    this.#stream = stream;
    this.#names = names;
    this.#timer = setInterval(() => this.#tick(), stream.isTTY ? 100 : 1000).unref();
  }

  readonly on = ({ part, state, message = 'starting' }: PartEvent): void => {
    const now = performance.now();
    const pending = this.#pending.get(part) ?? { since: now, message, saidAt: Number.NaN };
    if (state === 'ready') {
      this.#pending.delete(part);
      this.line(`${this.#names[part]} is ready (${seconds(now - pending.since)} s)`);
    } else {
      this.#pending.set(part, { ...pending, message, saidAt: Number.NaN });
      if (state === 'note') this.#say(part, now);
    }
  };

  /** Prints a line of its own. */
  line(text: string): void {
    this.#clear();
    this.#stream.write(`  ${text}\n`);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#clear();
  }

  #tick(): void {
    const now = performance.now();
    if (this.#stream.isTTY) this.#spin(now);
    else
      for (const [part, { since, saidAt }] of this.#pending)
        if (Number.isNaN(saidAt) ? now - since > 1000 : now - saidAt > repeatMs) this.#say(part, now);
  }

  #say(part: PartName, now: number): void {
    const pending = this.#pending.get(part);
    if (!pending) return;
    pending.saidAt = now;
    const took = now - pending.since;
    this.line(`${this.#names[part]}: ${pending.message} …${took > 5000 ? ` (${Math.round(took / 1000)} s)` : ''}`);
  }

  #spin(now: number): void {
    this.#clear();
    const slow = [...this.#pending].filter(([, { since }]) => now - since > 300);
    if (slow.length === 0) return;
    this.#frame = (this.#frame + 1) % frames.length;
    const text = slow.map(([part, { since }]) => `${this.#names[part]} ${Math.round((now - since) / 1000)} s`).join(', ');
    // A line that is wrapped could not be cleared.
    this.#stream.write(`  ${frames[this.#frame]} ${text}`.slice(0, (this.#stream.columns || 80) - 1));
  }

  #clear(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[2K');
  }
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
