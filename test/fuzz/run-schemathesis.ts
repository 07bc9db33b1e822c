import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Exit } from '../../ops/local/supervise.ts';
import type { TestApi } from '../support/api.ts';
import type { Caller } from './callers.ts';
import type { FuzzOptions } from './options.ts';

const settings = resolve('test/fuzz/schemathesis.toml');
const hooks = resolve('test/fuzz/hooks.py');

/** Fuzzes the served document as one caller. What is found is printed as it is found, and makes the exit code 1. */
export async function runSchemathesis(
  program: string,
  api: TestApi,
  caller: Caller,
  { examples, seed }: Pick<FuzzOptions, 'examples' | 'seed'>,
): Promise<Exit> {
  // Its own directory: Hypothesis writes where it runs.
  const directory = `${api.stack.dataDir}/fuzz/${caller.name}`;
  mkdirSync(directory, { recursive: true });
  const configFile = `${directory}/schemathesis.toml`;
  writeFileSync(configFile, `${readFileSync(settings, 'utf8')}\n${dictionaries(caller)}`);
  const args = ['--config-file', configFile, 'run', `${api.url}/api/v1/openapi.json`, '--max-examples', String(examples)];
  args.push('--generation-database', 'none', '--no-color');
  // They tell that a caller without permissions is refused.
  args.push('--warnings', 'off');
  if (seed !== undefined) args.push('--seed', seed);
  if (caller.token !== undefined) args.push('--header', `Authorization: Bearer ${caller.token}`);
  // The stream of one who may read it does not end.
  if (caller.name === 'owner' || caller.name === 'member') args.push('--exclude-operation-id', 'jobs.stream');
  const env = {
    SCHEMATHESIS_HOOKS: hooks,
    PYTHONDONTWRITEBYTECODE: '1',
    NO_PROXY: 'localhost,127.0.0.1',
    no_proxy: 'localhost,127.0.0.1',
    ORGANIZATION_ID: caller.tenant.organizationId,
    WORKSPACE_ID: caller.tenant.workspaceId,
  };
  return await api.stack.supervisor.run({ name: 'Schemathesis', command: program, args, env, cwd: directory }).exited;
}

function dictionaries({ rows }: Caller): string {
  return Object.entries({ slugs: ['main'], ...rows })
    .map(([name, values]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(values)}\n`)
    .join('\n');
}
