import { Rests } from './rests.ts';

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
 * Lets only so many long tasks run at once, so that a processor is left for requests (docs/decisions/priorities.md). The others are stopped and
 * take turns. Those that run rest again and again while other programs wait for a processor, as `readWaitMs` tells; see {@link Rests}.
 */
export class LongTasks {
  readonly #places: number;
  /** The one that has run for longest comes first. */
  readonly #running = new Set<Pausable>();
  readonly #paused = new Set<Pausable>();
  readonly #rests: Rests;
  #turns: NodeJS.Timeout | undefined;

  constructor(places: number, readWaitMs: () => number | undefined = () => undefined) {
    this.#places = places;
    this.#rests = new Rests((isResting) => this.#restAll(isResting), readWaitMs);
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
    if (this.#running.size >= this.#places) this.#pause(task);
    else {
      this.#running.add(task);
      if (this.#rests.isResting) task.pause();
    }
    this.#rests.begin();
    this.#turns ??= setInterval(() => this.#passOn(), turnMs).unref();
  }

  #leave(task: Pausable): void {
    const rested = this.#running.delete(task) && this.#rests.isResting;
    // Its process has the result of the task already, or is dead.
    if (this.#paused.delete(task) || rested) task.resume();
    this.#admit();
    if (this.#running.size > 0) return;
    this.#rests.end();
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
    if (!this.#rests.isResting) next.resume();
  }

  #restAll(isResting: boolean): void {
    for (const task of this.#running) {
      if (isResting) task.pause();
      else task.resume();
    }
  }
}
