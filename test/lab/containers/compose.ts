import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '../../../base/config/environment.ts';
import { type CommandResult, runCommand, tryCommand } from './run-command.ts';

/** A container of the deployment. */
export interface Container {
  id: string;
  service: string;
  /** `running`, `exited`, … */
  state: string;
  /** `healthy`, `unhealthy`, `starting`, or '' if it has no health check. */
  health: string;
}

/** The services that end once they have prepared something. */
export const steps = ['secrets', 'databases', 'temporal-schema', 'temporal-namespace', 'migrate', 'store-bucket'];

/** The docker-compose.yml of a directory as it is, under a project name and with variables of its own. */
export class Compose {
  readonly project: string;
  readonly directory: string;
  /** With these, `docker compose` in a script of its own works on the same deployment. */
  readonly env: Environment;
  readonly #first: string[];

  constructor(project: string, envFile: string, directory = '.') {
    this.project = project;
    this.directory = directory;
    this.env = { COMPOSE_PROJECT_NAME: project, COMPOSE_ENV_FILES: envFile };
    this.#first = ['compose', '--project-name', project, '--env-file', envFile];
  }

  /** Runs a command of compose. Throws with its messages if it fails. */
  run(...args: string[]): Promise<string> {
    return runCommand('docker', [...this.#first, ...args], { cwd: this.directory });
  }

  try(...args: string[]): Promise<CommandResult> {
    return tryCommand('docker', [...this.#first, ...args], { cwd: this.directory });
  }

  /** Runs a program in a container of a service. */
  exec(service: string, ...command: string[]): Promise<CommandResult> {
    return this.try('exec', '--no-TTY', service, ...command);
  }

  /** The rows of a statement in the service's database, as Postgres's superuser, which only its own container can be. */
  async query(sql: string): Promise<string[]> {
    const { code, stdout, stderr } = await this.exec(
      'postgres',
      ...['psql', '--no-psqlrc', '--tuples-only', '--no-align', '--quiet', '--username=postgres', '--dbname=sheaf'],
      ...['--set=ON_ERROR_STOP=1', `--command=${sql}`],
    );
    if (code !== 0) throw new Error(`Postgres refuses: ${stderr}`);
    return stdout.split('\n').filter(Boolean);
  }

  async list(): Promise<Container[]> {
    const lines = (await this.run('ps', '--all', '--format', 'json')).trim().split('\n').filter(Boolean);
    return lines.map((line) => {
      const { ID: id, Service: service, State: state, Health: health } = JSON.parse(line);
      return { id, service, state, health };
    });
  }

  /** Waits until every container runs, and is healthy if it says so. Those that only prepare have ended. Throws with their states after `limitMs`. */
  async waitUntilHealthy(limitMs = 180_000): Promise<void> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      const containers = await this.list();
      const waiting = containers.filter(({ service, state, health }) => {
        if (steps.includes(service)) return state !== 'exited';
        return state !== 'running' || !['', 'healthy'].includes(health);
      });
      if (containers.length > 0 && waiting.length === 0) return;
      if (Date.now() > deadline) throw new Error(`Not healthy after ${limitMs / 1000} s: ${JSON.stringify(waiting)}`);
      await delay(1_000);
    }
  }
}
