import type { JobSubscriber } from './job-subscriber.ts';

/** The open streams of this process, by organization. */
export class Subscribers {
  readonly #byOrganization = new Map<string, Set<JobSubscriber>>();

  add(subscriber: JobSubscriber): void {
    const { organizationId } = subscriber.stream;
    const others = this.#byOrganization.get(organizationId) ?? new Set();
    this.#byOrganization.set(organizationId, others.add(subscriber));
  }

  remove(subscriber: JobSubscriber): void {
    const { organizationId } = subscriber.stream;
    const others = this.#byOrganization.get(organizationId);
    others?.delete(subscriber);
    if (others?.size === 0) this.#byOrganization.delete(organizationId);
  }

  /** Whether an organization has an open stream. */
  has(organizationId: string): boolean {
    return this.#byOrganization.has(organizationId);
  }

  of(organizationId: string): JobSubscriber[] {
    return [...(this.#byOrganization.get(organizationId) ?? [])];
  }

  all(): JobSubscriber[] {
    return [...this.#byOrganization.values()].flatMap((subscribers) => [...subscribers]);
  }
}
