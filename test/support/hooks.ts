import type { RootHookObject } from 'mocha';
import { endTrackingPools, trackPools } from './pool-leaks.ts';
import { stopOwnServices } from './stack.ts';

trackPools();

/** Runs after the last test of a process (of each file, when files run in parallel). */
export const mochaHooks: RootHookObject = {
  async afterAll() {
    try {
      await endTrackingPools();
    } finally {
      await stopOwnServices();
    }
  },
};
