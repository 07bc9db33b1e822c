import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { inheritedEnvironment, loadToolConfig } from '../../base/config/local.ts';

/** The path of a program of this machine; undefined if it is not installed. Debian keeps servers where only root's PATH leads. */
export function findInstalled(name: string): string | undefined {
  const { path } = loadToolConfig(inheritedEnvironment());
  return [...path, '/usr/sbin'].map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
