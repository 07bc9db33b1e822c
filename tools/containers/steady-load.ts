import { setTimeout as delay } from 'node:timers/promises';
import type { Tenant } from '../drill/tenant.ts';

/** What clients have seen. */
export interface LoadReport {
  /** The longest that a client asked again and again until its job was accepted. */
  longestWaitSeconds: number;
  /** For each document, from the beginning of its upload until a search found it. */
  searchableAfterSeconds: number[];
  /** Documents that a search did not find, or whose job did not end in time. */
  notFound: number;
}

const clients = 3;
/** Of each client: two jobs a second altogether. */
const betweenJobsMs = 1_500;
/** Every so many jobs, a client uploads a document instead, has it indexed, and searches for it. */
const jobsPerDocument = 30;
const pollMs = 500;
const patienceMs = 240_000;

/** Clients that create jobs at a steady rate until they are stopped. */
export class SteadyLoad {
  readonly #tenant: Tenant;
  readonly #running: Promise<unknown>;
  readonly #seen: LoadReport = { longestWaitSeconds: 0, searchableAfterSeconds: [], notFound: 0 };
  #stopping = false;

  constructor(tenant: Tenant) {
    this.#tenant = tenant;
    this.#running = Promise.all(Array.from({ length: clients }, (_, number) => this.#work(number)));
    // A failure is thrown by `during` and `stop`.
    this.#running.catch(() => {});
  }

  /** Waits for something else. Throws if a client fails meanwhile. */
  async during(other: Promise<unknown>): Promise<void> {
    await Promise.race([other, this.#running]);
  }

  /** Stops the clients once each has done what it does now. Throws if one of them failed. */
  async stop(): Promise<LoadReport> {
    this.#stopping = true;
    await this.#running;
    return this.#seen;
  }

  async #work(client: number): Promise<void> {
    const kinds = ['text.summarize', 'document.extract', 'text.embed', 'document.summarize'];
    const documentId = await this.#tenant.upload('The tide turns at noon. The ferry waits for nobody. Bread is sold on the pier.');
    await this.#waitForEnd(await this.#create({ kind: 'document.extract', documentId }));
    let nextAt = performance.now() + (betweenJobsMs * client) / clients;
    for (let count = client * (jobsPerDocument / clients); !this.#stopping; count++) {
      await delay(Math.max(0, nextAt - performance.now()));
      nextAt = Math.max(nextAt + betweenJobsMs, performance.now());
      const kind = kinds[count % kinds.length] ?? '';
      if (count % jobsPerDocument === 0) await this.#makeSearchable(`${client}-${count}`);
      else await this.#create(kind.startsWith('document.') ? { kind, documentId } : { kind });
    }
  }

  async #create(job: { kind: string; documentId?: string }): Promise<string> {
    const startedAt = performance.now();
    const id = await this.#tenant.createJob(job);
    this.#seen.longestWaitSeconds = Math.max(this.#seen.longestWaitSeconds, (performance.now() - startedAt) / 1_000);
    return id;
  }

  async #makeSearchable(word: string): Promise<void> {
    const startedAt = performance.now();
    const documentId = await this.#tenant.upload(
      `The log of the ship ship-${word}. It left the harbour at noon, and came back with the tide.`,
    );
    const jobId = await this.#create({ kind: 'document.index', documentId });
    const hasEnded = await this.#waitForEnd(jobId);
    const found = await this.#tenant.find(`the log of the ship ship-${word}`);
    if (hasEnded && found.includes(documentId)) this.#seen.searchableAfterSeconds.push((performance.now() - startedAt) / 1_000);
    else this.#seen.notFound++;
  }

  /** Whether a job has ended within some minutes. */
  async #waitForEnd(jobId: string): Promise<boolean> {
    for (const deadline = Date.now() + patienceMs; !(await this.#tenant.hasEnded(jobId)); await delay(pollMs)) {
      if (Date.now() > deadline) return false;
    }
    return true;
  }
}
