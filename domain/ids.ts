import { v7 } from 'uuid';

/** A new id: a UUID whose order is the order of creation, so that indexes grow at one end. */
export function newId(): string {
  return v7();
}
