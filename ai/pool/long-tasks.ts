/** A task whose process can be stopped and continued. */
export interface Pausable {
  pause(): void;
  resume(): void;
}

/** After so long a task is a long one. Most documents are read in less. */
const longAfterMs = 250;
/** How long a long task runs on while others wait. */
const turnMs = 500;

/**
 * Lets only so many long tasks run at once, so that a processor is left for requests (docs/decisions/priorities.md). The others are stopped and take turns.
 */
export class LongTasks {
  readonly #places: number;
  /** The one that has run for longest comes first. */
  readonly #running = new Set<Pausable>();
  readonly #paused = new Set<Pausable>();
  #turns: NodeJS.Timeout | undefined;

  constructor(places: number) {
    this.#places = places;
  }

  get load(): { running: number; paused: number } {
    return { running: this.#running.size, paused: this.#paused.size };
  }

  /** Counts a task that begins now. Returns how to say that it has ended, whatever became of it. */
  begin(task: Pausable): () => void {
    const timer = setTimeout(() => this.#enter(task), longAfterMs);
    return () => {
      clearTimeout(timer);
      this.#leave(task);
    };
  }

  #enter(task: Pausable): void {
    if (this.#running.size < this.#places) this.#running.add(task);
    else this.#pause(task);
    this.#turns ??= setInterval(() => this.#passOn(), turnMs).unref();
  }

  #leave(task: Pausable): void {
    this.#running.delete(task);
    // Its process has the result of the task already, or is dead.
    if (this.#paused.delete(task)) task.resume();
    this.#admit();
    if (this.#running.size > 0) return;
    clearInterval(this.#turns);
    this.#turns = undefined;
  }

  #passOn(): void {
    const [longest] = this.#running;
    if (longest === undefined || this.#paused.size === 0) return;
    this.#running.delete(longest);
    this.#admit();
    this.#pause(longest);
  }

  #pause(task: Pausable): void {
    this.#paused.add(task);
    task.pause();
  }

  #admit(): void {
    const [next] = this.#paused;
    if (next === undefined || this.#running.size >= this.#places) return;
    this.#paused.delete(next);
    this.#running.add(next);
    next.resume();
  }
}
