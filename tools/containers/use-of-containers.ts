import { type Compose, steps } from './compose.ts';
import { runCommand } from './run-command.ts';

/** What a container uses, and how it is. */
export interface ContainerUse {
  id: string;
  service: string;
  /** Without what the kernel keeps of files and can give back. */
  memoryMb: number;
  /** How often the engine has started it again. */
  restarts: number;
  /** `running`, `exited`, … */
  state: string;
  /** `healthy`, `unhealthy`, `starting`, or '' if it has no health check. */
  health: string;
}

/** Measures every container of the deployment but those that have prepared something and ended. */
export async function measureContainers(compose: Compose): Promise<ContainerUse[]> {
  const containers = (await compose.list()).filter(({ service }) => !steps.includes(service));
  const ids = containers.map(({ id }) => id);
  const memory = readMemory(await runCommand('docker', ['stats', '--no-stream', '--format', '{{.ID}} {{.MemUsage}}', ...ids]));
  const restarts = (await runCommand('docker', ['inspect', '--format', '{{.RestartCount}}', ...ids])).trim().split('\n');
  return containers.map(({ id, service, state, health }, index) => ({
    ...{ id, service, state, health },
    memoryMb: memory.get(id.slice(0, 12)) ?? 0,
    restarts: Number(restarts[index]),
  }));
}

const units: Record<string, number> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** The memory of containers in MB by their short ids, of lines such as `0123456789ab 14.2MiB / 1GiB`. Throws for a line of another form. */
export function readMemory(lines: string): Map<string, number> {
  return new Map(
    lines
      .trim()
      .split('\n')
      .map((line) => {
        const [, id = '', amount, unit = ''] = /^([0-9a-f]{12}) ([\d.]+)([KMG]?i?B) \/ /.exec(line) ?? [];
        const bytes = Number(amount) * (units[unit] ?? Number.NaN);
        if (Number.isNaN(bytes)) throw new Error(`docker stats printed ${JSON.stringify(line)}`);
        return [id, Math.round(bytes / 1e6)];
      }),
  );
}

/** How much of its log the engine keeps, in MB. */
export async function measureLog(id: string): Promise<number> {
  const bytes = await runCommand('sh', ['-c', 'docker logs "$1" 2>&1 | wc -c', 'sh', id]);
  return Math.round(Number(bytes) / 1e5) / 10;
}
