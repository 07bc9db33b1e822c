import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runCommand } from '../run-command.ts';
import { workDirectory } from './root-directory.ts';

/**
 * A program of a Go module, built once, without a C library. `path` is that of its package, such as `example.com/tool/v2/cmd/tool`. A `module`
 * whose go.mod replaces others, which `go install` refuses, is named too: it is built where Go keeps it.
 */
export async function buildGoProgram(path: string, version: string, module?: string): Promise<string> {
  const directory = join(workDirectory(), 'go');
  const program = join(directory, `${path.replaceAll('/', '-')}@${version}`);
  if (existsSync(program)) return program;
  const unfinished = `${program}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const env = { GOBIN: unfinished, CGO_ENABLED: '0' };
  if (!module) await runCommand('nice', ['go', 'install', `${path}@${version}`], { env });
  else await runCommand('nice', ['go', 'install', '-trimpath', path], { env, cwd: await downloadGoModule(module, version) });
  renameSync(join(unfinished, nameOf(path)), program);
  rmSync(unfinished, { recursive: true });
  return program;
}

/** Where Go keeps the files of a module. */
export async function downloadGoModule(module: string, version: string): Promise<string> {
  return JSON.parse(await runCommand('go', ['mod', 'download', '-json', `${module}@${version}`])).Dir;
}

/** As Go names a program: by the last part of its path that is no version. */
function nameOf(path: string): string {
  const last = basename(path);
  return /^v\d+$/.test(last) ? basename(path.slice(0, -last.length - 1)) : last;
}
