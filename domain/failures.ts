import { DatabaseUnavailable } from '../db/unavailable.ts';

/** What failed of a work of many parts: one part that fails holds up no other. */
export class Failures {
  #first: { error: unknown } | undefined;

  /** Does a part of the work. Returns undefined if it failed; throws at once if the database is away, as it is for all parts. */
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

  /** To be called at the end. Throws what the first part threw that failed. */
  throwFirst(): void {
    if (this.#first) throw this.#first.error;
  }
}
