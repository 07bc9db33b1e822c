/** Keeps the best of the items that it is offered; among equals, the first ones. */
export class Best<T> {
  readonly #count: number;
  #kept: { score: number; item: T }[] = [];
  /** Only items with a higher score are kept. */
  least = Number.NEGATIVE_INFINITY;

  constructor(count: number) {
    this.#count = count;
  }

  offer(score: number, item: T): void {
    if (score <= this.least) return;
    this.#kept.push({ score, item });
    if (this.#kept.length >= 2 * this.#count) this.#cut();
  }

  /** Best first. */
  ranked(): { score: number; item: T }[] {
    this.#cut();
    return this.#kept;
  }

  #cut(): void {
    this.#kept = this.#kept.sort((one, other) => other.score - one.score).slice(0, this.#count);
    if (this.#kept.length === this.#count) this.least = this.#kept.at(-1)?.score ?? this.least;
  }
}
