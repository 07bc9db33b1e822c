import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '../fault.ts';
import type { Cuttable } from '../service.ts';

/** Nothing passes between the service and a dependency, and nobody is told; then it takes new connections alone. */
function silent(name: string, dependency: Cuttable, short: number): Fault {
  return {
    name,
    runs: { full: 2, short },
    async inject({ service: { ways }, short: isShort }) {
      ways[dependency].silence();
      await delay(isShort ? 6_000 : 30_000);
      ways[dependency].resume({ forget: true });
      return undefined;
    },
  };
}

export const postgresSilent = silent('postgres-silent', 'postgres', 1);
export const temporalSilent = silent('temporal-silent', 'temporal', 0);
export const aiSilent = silent('ai-silent', 'ai', 0);
