import { readdirSync, readFileSync } from 'node:fs';
import type { Service } from './service.ts';

const millisecondsPerTick = 10;

/** The processor time in milliseconds that each process of the stack, with its children, this one, and others by their ids have used so far. */
export function processorTimes({ stack }: Service, others: Record<string, number>): Map<string, number> {
  const processes = readProcesses();
  const of = (pid: number): number => {
    const children = [...processes].filter(([, { parent }]) => parent === pid);
    return (processes.get(pid)?.ms ?? 0) + children.reduce((total, [child]) => total + of(child), 0);
  };
  const services = (['postgres', 'temporal', 'ai', 'api'] as const).map((name): [string, number] => [name, of(stack.pid(name) ?? 0)]);
  const named = Object.entries({ ...others, bench: process.pid });
  return new Map([...services, ...named.map(([name, pid]): [string, number] => [name, processes.get(pid)?.ms ?? 0])]);
}

/** Linux's processes: parent and used time, that of children that have ended included. */
function readProcesses(): Map<number, { parent: number; ms: number }> {
  const found = new Map<number, { parent: number; ms: number }>();
  for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = readStat(name);
    if (!fields) continue;
    const ticks = fields.slice(11, 15).reduce((total, field) => total + Number(field), 0);
    found.set(Number(name), { parent: Number(fields[1]), ms: ticks * millisecondsPerTick });
  }
  return found;
}

/** The fields after the name, which may contain anything; undefined if the process is gone. */
function readStat(pid: string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
