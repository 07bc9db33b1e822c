import { v7 } from 'uuid';

/** A new id: a UUID that sorts by its time of creation, so that indexes grow at one end. */
export function newId(): string {
  return v7();
}
