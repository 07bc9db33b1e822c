/** How many bytes each key holds. */
export class BytesByKey {
  /** Only keys that hold something. */
  readonly #bytes = new Map<string, number>();
  #total = 0;

  /** What all keys hold. */
  get total(): number {
    return this.#total;
  }

  of(key: string): number {
    return this.#bytes.get(key) ?? 0;
  }

  /** Adds so many bytes to what a key holds, or takes them away if they are negative. */
  add(key: string, bytes: number): void {
    this.#total += bytes;
    const held = this.of(key) + bytes;
    if (held > 0) this.#bytes.set(key, held);
    else this.#bytes.delete(key);
  }
}
