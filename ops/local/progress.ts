import ora, { type Ora } from 'ora';
import { type ServiceName, serviceNames } from './service-names.ts';
import type { ServiceEvent } from './stack.ts';

/** A spinner that prints nothing unless it is on a terminal. */
export function createSpinner(stream: NodeJS.WriteStream): Ora {
  // A terminal that does not know its width reports 0, with which ora never returns.
  const isSilent = !stream.isTTY || !stream.columns;
  return ora({ stream, isSilent, indent: 2, discardStdin: false });
}

/** Shows the start of services: a line when one is ready, and for each slow step; on a terminal a spinner with what is under way. */
export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #names: Record<ServiceName, string>;
  readonly #spinner;
  /** When each service that is not ready began to start. */
  readonly #starting = new Map<ServiceName, number>();

  constructor(stream: NodeJS.WriteStream, names = serviceNames) {
    this.#stream = stream;
    this.#names = names;
    this.#spinner = createSpinner(stream);
  }

  readonly on = ({ service, state, message }: ServiceEvent): void => {
    const since = this.#starting.get(service) ?? performance.now();
    this.#starting.set(service, since);
    if (state === 'note') this.line(`${this.#names[service]}: ${message} …`);
    if (state === 'ready') {
      this.#starting.delete(service);
      this.line(`${this.#names[service]} is ready (${((performance.now() - since) / 1000).toFixed(1)} s)`);
    }
    if (this.#starting.size === 0) this.#spinner.stop();
    else this.#spinner.start([...this.#starting.keys()].map((each) => this.#names[each]).join(', '));
  };

  end(): void {
    this.#spinner.stop();
  }

  line(text: string): void {
    this.#stream.write(`  ${text}\n`);
  }
}
