import { boundsOf, type WorkBounds, type WorkClass } from '../../../db/bounds.ts';

/** Requests that wait for a lock or a connection until a test has seen who waits, also on a busy machine. */
export const patient = { request: { statementMs: 30_000, lockMs: 30_000, connectMs: 30_000 } };

/** Gives the APIs of a `describe` that run in this process other bounds. Call it before what starts them. */
export function useBounds(changed: Partial<Record<WorkClass, Partial<WorkBounds>>>): void {
  const usual = structuredClone(boundsOf);
  before('changes the bounds', () => {
    for (const [work, bounds] of Object.entries(changed)) Object.assign(boundsOf[work as WorkClass], bounds);
  });
  after('restores the bounds', () => {
    for (const [work, bounds] of Object.entries(usual)) Object.assign(boundsOf[work as WorkClass], bounds);
  });
}
