import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '../base/config/environment.ts';
import { secretVariables } from '../base/config/secret-files.ts';

/** Names the directory in which a program left the secrets of its environment to itself. */
const left = 'SECRETS_LEFT_IN';

/**
 * Begins the program anew without the secrets in the environment that it was started with: others of its user can read that in `/proc` as
 * long as it runs, even after a variable was deleted. The program itself finds them in `own`, its `process.env`, as before. Throws
 * ConfigurationError if the temporary directory does not take them.
 */
export function hideSecrets(own: NodeJS.ProcessEnv): void {
  const { [left]: directory, ...env } = own;
  if (directory !== undefined) {
    delete own[left];
    Object.assign(own, JSON.parse(readFileSync(join(directory, 'secrets'), 'utf8')));
    rmSync(directory, { recursive: true });
    return;
  }
  const secrets = Object.fromEntries(secretVariables.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  if (process.execve === undefined || Object.keys(secrets).length === 0) return;
  for (const name of Object.keys(secrets)) delete env[name];
  const made = leave(JSON.stringify(secrets));
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], { ...env, [left]: made });
}

function leave(secrets: string): string {
  let made: string | undefined;
  try {
    made = mkdtempSync(join(tmpdir(), 'sheaf-ai-'));
    writeFileSync(join(made, 'secrets'), secrets, { mode: 0o600 });
    return made;
  } catch (error) {
    if (made !== undefined) rmSync(made, { recursive: true });
    throw new ConfigurationError([`TMPDIR: nothing can be written to ${tmpdir()} (${error instanceof Error ? error.message : error}).`]);
  }
}
