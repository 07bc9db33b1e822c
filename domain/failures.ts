import { DatabaseUnavailable } from '../db/unavailable.ts';

/** Collects the errors of work with many parts, so that one part that fails does not stop the others. */
export class Failures {
  #first: { error: unknown } | undefined;

  /** Runs a part of the work. Returns undefined if it failed; throws at once if the database is unavailable, since all parts would fail. */
  async note<T>(part: () => Promise<T>): Promise<T | undefined> {
    try {
      return await part();
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      this.#first ??= { error };
      return undefined;
    }
  }

  get any(): boolean {
    return this.#first !== undefined;
  }

  /** Call it at the end. Throws the error of the first part that failed. */
  throwFirst(): void {
    if (this.#first) throw this.#first.error;
  }
}
