import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { contentTypesByExtension } from '../../../clients/typescript/content-types.ts';
import { extraContentTypes } from '../../../contract/content-types.ts';
import { version } from '../../../contract/index.ts';
import { buildOpenApi } from '../../../contract/openapi.ts';
import type { Supervisor } from '../../../ops/local/supervise.ts';
import { installPythonTools } from './install.ts';

interface BuiltClient {
  /** The path of the wheel. */
  wheel: string;
  /** The directory of the package that it was made of. */
  sources: string;
  /** The directory of the programs that built it, Python among them. */
  programs: string;
}

/**
 * Generates the Python client from the contract of these sources, and packs it as a wheel into a directory. Nothing generated is
 * kept in the repository, so it cannot be older than the contract. Throws as `installPythonTools` does.
 */
export async function buildPythonClient(directory: string, supervisor: Supervisor): Promise<BuiltClient> {
  const tools = { needed: 'The Python client', directory: '.python', requirements: 'test/lab/python/requirements.txt' };
  const programs = await installPythonTools(tools, supervisor);
  const python = join(programs, 'python');
  const sources = resolve(directory, 'sources');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(sources, { recursive: true });
  const document = buildOpenApi({ cookieName: 'session', extra: extraContentTypes });
  const input = join(directory, 'openapi.json');
  writeFileSync(input, JSON.stringify({ ...document, 'x-content-types-by-extension': contentTypesByExtension }));
  await supervisor.complete({ name: 'generate.py', command: python, args: ['clients/python/generate.py', input, sources] });
  const build = ['-m', 'hatchling', 'build', '-t', 'wheel', '-d', resolve(directory)];
  const logFile = join(directory, 'hatchling.log');
  await supervisor.complete({ name: 'hatchling', command: python, args: build, cwd: sources, logFile });
  return { wheel: join(directory, `sheaf_client-${version}-py3-none-any.whl`), sources, programs };
}
