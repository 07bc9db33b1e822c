import type { RootHookObject } from 'mocha';
import { endTrackingPools, trackPools } from './pool-leaks.ts';
import { endTrackingRejections, trackRejections } from './rejections.ts';
import { stopOwnServices } from './stack.ts';

trackPools();
// `npm start` would download a sentence model.
process.env.LOCAL_EMBED_MODEL ??= 'hash';

/** Run before the first and after the last test of a process (of each file, when files run in parallel). */
export const mochaHooks: RootHookObject = {
  beforeAll() {
    trackRejections();
  },
  async afterAll(this: Mocha.Context) {
    endTrackingRejections(this.test?.parent?.suites[0]?.file ?? 'a test');
    try {
      await endTrackingPools();
    } finally {
      await stopOwnServices();
    }
  },
};
