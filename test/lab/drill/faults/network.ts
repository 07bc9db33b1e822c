import type { Fault } from '../fault.ts';
import type { Cuttable } from '../service.ts';
import { countBroken, watchCut } from '../watch-cut.ts';

/**
 * Nothing passes between the service and a dependency, and nobody is told; then it takes new connections alone. Who asks for something
 * after that is served within half a minute, however long nothing passed.
 */
function silent(name: string, dependency: Cuttable, short: number): Fault {
  return {
    name,
    runs: { full: 2, short },
    isCut: true,
    ...(dependency === 'bucket' && { needsBucket: true }),
    async inject({ service, tenants, quiet, short: isShort, cutMs = isShort ? 6_000 : 30_000 }) {
      const way = service.ways[dependency];
      if (!way) throw new Error(`There is no way to cut to: ${dependency}.`);
      const cut = await watchCut(service, { way, forMs: cutMs, tenants, quiet });
      return { stuck: countBroken(cut), cut };
    },
  };
}

export const postgresSilent = silent('postgres-silent', 'postgres', 1);
export const temporalSilent = silent('temporal-silent', 'temporal', 0);
export const aiSilent = silent('ai-silent', 'ai', 0);
/** Documents are in a bucket then, which a server on this machine has. */
export const bucketSilent = silent('bucket-silent', 'bucket', 0);
