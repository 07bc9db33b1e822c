import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inheritedEnvironment, loadToolConfig } from '../../base/config/local.ts';
import { ProcessError, type Supervisor } from '../../ops/local/supervise.ts';

/** A program that `go install` builds. */
export interface GoProgram {
  name: string;
  /** Its main package. */
  package: string;
  version: string;
  /** What cannot be done without it. */
  needed: string;
}

/**
 * The path of a program. It is built with `go install` the first time, in an empty directory, and kept in the user's cache. Throws if it is
 * not there and cannot be built.
 */
export async function findGoProgram(program: GoProgram, supervisor: Supervisor, directory: string): Promise<string> {
  const { name, version, needed } = program;
  const { path, cacheDir } = loadToolConfig(inheritedEnvironment());
  const cached = join(cacheDir, name, version, name);
  if (isExecutable(cached)) return cached;
  const source = `${program.package}@${version}`;
  const go = path.map((each) => join(each, 'go')).find(isExecutable);
  if (go === undefined) throw new Error(`${needed}: install Go, which builds ${source}.`);
  const [args, env] = [['install', source], { GOBIN: directory }];
  try {
    await supervisor.complete({ name: 'go install', command: go, args, env, cwd: directory, logFile: join(directory, 'go.log') });
  } catch (error) {
    if (error instanceof ProcessError) throw new Error(`${needed}: ${source} could not be built: ${error.message}`);
    throw error;
  }
  return keep(join(directory, name), cached);
}

/**
 * Builds those programs that are not there yet, which takes minutes, before tests ask for them within their time. What cannot be built is
 * left to the tests that need it. Begins no other one once the signal has aborted.
 */
export async function buildGoPrograms(
  programs: GoProgram[],
  supervisor: Supervisor,
  directory: string,
  signal: AbortSignal,
): Promise<void> {
  for (const program of programs) {
    if (signal.aborted) return;
    const own = join(directory, program.name);
    mkdirSync(own, { recursive: true });
    await findGoProgram(program, supervisor, own).catch((error: unknown) => {
      if (!signal.aborted) console.log(`  ${error instanceof Error ? error.message : error}`);
    });
  }
}

/** Another run may keep the same program at the same time. */
function keep(built: string, cached: string): string {
  mkdirSync(join(cached, '..'), { recursive: true });
  const unfinished = `${cached}.${process.pid}`;
  rmSync(unfinished, { force: true });
  spawnSync('cp', [built, unfinished]);
  renameSync(unfinished, cached);
  return cached;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
