import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createSupervisor } from '../../../../ops/local/supervise.ts';
import { installPythonTools } from '../../python/install.ts';

/** What a set is called, which names a directory of its own for Python, and the files beside this one that read it there. */
interface Peers {
  set: string;
  program: string;
  requirements: string;
}

/** What Python's libraries read of files: by the names of library and file. The program prints it as its last line, in JSON. */
export async function readByPython<T>({ set, program, requirements }: Peers, paths: string[]): Promise<Record<string, Record<string, T>>> {
  const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const tools = { needed: `Judging ${set} beside other readers`, directory: `.judges/${set}`, requirements: beside(requirements) };
  const directory = await installPythonTools(tools, createSupervisor());
  process.stderr.write(`Reading ${paths.length} files by Python's libraries: some minutes, from ${program} …\n`);
  const { stdout } = await promisify(execFile)(`${directory}/python`, [beside(program), ...paths], { maxBuffer: 1024 ** 3 });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}
