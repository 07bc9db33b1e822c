// `npm run build:python`: generates the Python client from the contract, and puts its wheel into clients/python/dist.
import { copyFileSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createSupervisor } from '../../../ops/local/supervise.ts';
import { buildPythonClient } from './build-client.ts';

const supervisor = createSupervisor();
try {
  const { wheel } = await buildPythonClient('.python/build', supervisor);
  const target = join('clients/python/dist', basename(wheel));
  mkdirSync('clients/python/dist', { recursive: true });
  copyFileSync(wheel, target);
  console.log(target);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await supervisor.close();
}
