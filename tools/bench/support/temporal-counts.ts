import type { Service } from './service.ts';

/** Counts of a Temporal server since its start, by the name of the operation. */
export interface TemporalCounts {
  /** Calls of its API, those of workers that wait for tasks included. */
  calls: Map<string, number>;
  /** Requests to its store. Those that write are a transaction each. */
  store: Map<string, number>;
}

/** Reads the counts of the embedded Temporal, which says in its log where they are. */
export async function readTemporalCounts({ stack }: Service): Promise<TemporalCounts> {
  const url = /^Metrics:\s+(\S+)/m.exec(stack.readLog('temporal'))?.[1];
  if (url === undefined) throw new Error('Temporal does not say where its metrics are.');
  const text = await (await fetch(url)).text();
  return {
    calls: sum(text, 'service_requests', ({ service_name }) => service_name === 'frontend'),
    store: sum(text, 'persistence_requests'),
  };
}

/** What was counted between two readings. */
export function between(before: Map<string, number>, after: Map<string, number>): Map<string, number> {
  const differences = [...after].map(([name, count]): [string, number] => [name, count - (before.get(name) ?? 0)]);
  return new Map(differences.filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a));
}

type Labels = Record<string, string>;

/** Sums a counter of the Prometheus format by its label `operation`. */
function sum(text: string, counter: string, wanted: (labels: Labels) => boolean = () => true): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [, list = '', count] of text.matchAll(new RegExp(`^${counter}\\{(.*)\\} (\\S+)$`, 'gm'))) {
    const labels: Labels = Object.fromEntries([...list.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
    const { operation = '' } = labels;
    if (wanted(labels)) sums.set(operation, (sums.get(operation) ?? 0) + Number(count));
  }
  return sums;
}
