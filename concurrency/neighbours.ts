/** Whether more than one key has been served lately. Remembers two keys, however many there are. */
export class Neighbours {
  readonly #withinMs: number;
  #last: { key: string; at: number } | undefined;
  /** The newest key that is not the last one. */
  #other: { key: string; at: number } | undefined;

  /** A key counts as served lately for `withinMs`. */
  constructor(withinMs: number) {
    this.#withinMs = withinMs;
  }

  /** Notes that a key is served now. */
  note(key: string): void {
    if (this.#last?.key !== key) this.#other = this.#last;
    this.#last = { key, at: performance.now() };
  }

  /** Whether another key than this one was served lately. */
  hasOthers(key: string): boolean {
    const newest = this.#last?.key === key ? this.#other : this.#last;
    return newest !== undefined && performance.now() - newest.at < this.#withinMs;
  }
}
