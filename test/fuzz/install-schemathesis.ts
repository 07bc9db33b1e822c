import { join } from 'node:path';
import type { Supervisor } from '../../ops/local/supervise.ts';
import { installPythonTools } from '../lab/python/install.ts';

/** Installs Schemathesis as pinned in `requirements.txt` unless it is there, and returns the path of its program. Throws as that does. */
export async function installSchemathesis(supervisor: Supervisor): Promise<string> {
  const tools = { needed: 'Fuzzing', directory: '.schemathesis', requirements: 'test/fuzz/requirements.txt' };
  return join(await installPythonTools(tools, supervisor), 'schemathesis');
}
