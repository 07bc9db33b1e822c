import { AiServiceError } from '../adapters/ai-service/client.ts';
import type { OutagePart } from '../db/schema.ts';
import { inTransaction } from '../db/transaction.ts';
import { isLockTimeout } from '../db/unavailable.ts';
import type { JobRow } from '../domain/jobs/job.ts';
import type { AttemptFailure } from '../domain/jobs/settle-attempt.ts';
import { lockJob } from '../domain/locks.ts';
import { admit } from '../domain/outages/admit.ts';
import { hasServed } from '../domain/outages/has-served.ts';
import { noteDown } from '../domain/outages/note-down.ts';
import { freeProbe, noteUp } from '../domain/outages/note-up.ts';
import type { ActivityDeps } from './deps.ts';
import { JobFailure, toAttemptFailure } from './job-failure.ts';

/**
 * Tells the database what an attempt learns of the providers that it needs (docs/outages.md). What cannot be noted is logged: another
 * attempt will learn it, too.
 */
export class ProviderWatch {
  readonly #deps: Pick<ActivityDeps, 'db' | 'jobs' | 'log'>;
  #probes: OutagePart[];

  /** `probes`: the parts known to be down that the attempt probes. */
  constructor(deps: Pick<ActivityDeps, 'db' | 'jobs' | 'log'>, probes: OutagePart[]) {
    this.#deps = deps;
    this.#probes = probes;
  }

  /** Notes that the probed parts are up. */
  async noteSuccess(): Promise<void> {
    await this.#note(() => this.#noteUp(this.#probes));
    this.#probes = [];
  }

  /** Whether the next stage of a job may begin. Throws a failure that does not count if what it needs is down. */
  async admit(job: JobRow): Promise<void> {
    const { db, jobs } = this.#deps;
    const admission = await inTransaction(db, async (trx) => {
      const locked = await lockJob(trx, job.id);
      return locked && admit(trx, locked, jobs.outages);
    }).catch((error: unknown) => {
      // Others hold the lock of the outage: the stage finds out by itself.
      if (!isLockTimeout(error)) throw error;
    });
    if (!admission) return;
    if ('waitsFor' in admission) throw new ProviderAway(admission.waitsFor);
    this.#probes = admission.probes;
  }

  /** Notes what an error shows to be up or down. Returns the failure of the attempt for its job. */
  async noteFailure(error: unknown, job: JobRow): Promise<AttemptFailure> {
    const failure = toAttemptFailure(error);
    if (error instanceof ProviderAway) return { ...failure, waitsFor: error.part, uncounted: true };
    const { isAnswer = false, down, retryAfterMs } = error instanceof AiServiceError ? error : {};
    // Whatever the service answered, it is there.
    if (isAnswer) await this.#note(() => this.#noteUp(this.#probes.filter((part) => part === 'ai-service')));
    await this.free();
    if (!down) return failure;
    const { part } = down;
    const { probeDelaysMs } = this.#deps.jobs.outages;
    const isProbe = this.#probes.includes(part);
    let isThere = false;
    await this.#note(async () => {
      isThere = await noteDown(this.#deps.db, { ...down, retryAfterMs }, { isProbe, probeDelaysMs });
      // A limit of rate or of money is never the document's fault.
      isThere ||= down.cause === 'failing' && (await hasServed(this.#deps.db, job, part));
    });
    return { ...failure, waitsFor: part, uncounted: isProbe && !isThere };
  }

  /** Lets others probe what this attempt was to probe. */
  async free(): Promise<void> {
    for (const part of this.#probes) await this.#note(() => freeProbe(this.#deps.db, part));
  }

  async #noteUp(parts: OutagePart[]): Promise<void> {
    for (const part of parts) await noteUp(this.#deps.db, part);
  }

  async #note(noting: () => Promise<void>): Promise<void> {
    await noting().catch((err: unknown) => this.#deps.log.warn({ err }, 'what an attempt learned of a provider was not noted'));
  }
}

/** The next stage of a job needs what is down. */
class ProviderAway extends JobFailure {
  readonly part: OutagePart;
  constructor(part: OutagePart) {
    super('provider_away', 'What the job needs next is not available just now; it goes on by itself.', true);
    this.part = part;
  }
}
