import { v5, v7 } from 'uuid';

/** A new id: a UUID that sorts by its time of creation, so that indexes grow at one end. */
export function newId(): string {
  return v7();
}

const derivedIds = '0b1f6c2e-6f0b-4f0e-9d53-2f6a8f3a7c11';

/** A stable id for something that may be written only once: the same `name` always gives the same id. */
export function deriveId(name: string): string {
  return v5(name, derivedIds);
}
