/** Something that takes up room until its client has read or sent it. */
export interface HeldForClient {
  /** Who holds it, as a key. */
  owner: string | undefined;
  bytes: number;
  /** Whether nothing but its client keeps it from being over. */
  isUpToClient(): boolean;
  /** Ends it. */
  hangUp(): void;
}

export interface SlowClientsOptions {
  /** How long a client may leave something as it is while others wait for room. */
  patienceMs: number;
  /** How many bytes are missing for the first of those who wait for room that all share; 0 or less if nobody waits. */
  missingBytes(): number;
  /** What an owner holds, in bytes. */
  bytesOf(owner: string): number;
}

/** Ends what slow clients hold while others wait for its room: first that of the owners who hold most. */
export class SlowClients {
  readonly #options: SlowClientsOptions;
  /** Since when each is up to its client, as `performance.now()`. */
  readonly #held = new Map<HeldForClient, number | undefined>();
  #watch: NodeJS.Timeout | undefined;

  constructor(options: SlowClientsOptions) {
    this.#options = options;
  }

  add(held: HeldForClient): void {
    this.#held.set(held, undefined);
    this.#watch ??= setInterval(() => this.#look(), this.#options.patienceMs / 5).unref();
  }

  delete(held: HeldForClient): void {
    this.#held.delete(held);
  }

  #look(): void {
    const now = performance.now();
    for (const [held, since] of this.#held) this.#held.set(held, held.isUpToClient() ? (since ?? now) : undefined);
    if (this.#held.size > 0) this.#makeRoom(now);
    else this.#stopWatch();
  }

  #makeRoom(now: number): void {
    const { patienceMs, missingBytes, bytesOf } = this.#options;
    let missing = missingBytes();
    if (missing <= 0) return;
    const slow = [...this.#held].filter(([, since]) => since !== undefined && now - since >= patienceMs).map(([held]) => held);
    const heldBy = ({ owner }: HeldForClient) => (owner === undefined ? 0 : bytesOf(owner));
    for (const held of slow.sort((one, other) => heldBy(other) - heldBy(one))) {
      if (missing <= 0) return;
      missing -= held.bytes;
      held.hangUp();
    }
  }

  #stopWatch(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
  }
}
