import { spawnSync } from 'node:child_process';
import type { Environment } from '../../../base/config/environment.ts';

/**
 * The engines of the local text recognition, each with the variables by which a service takes it. Tesseract of the system, if it is on the
 * PATH, is tried with the tests that take long: it is the same engine in another process.
 */
export const ocrEngines: { engine: string; env: Environment }[] = [
  { engine: 'Tesseract in WebAssembly', env: { PATH: '' } },
  ...(process.env.TEST_NIGHTLY && spawnSync('tesseract', ['--version']).status === 0
    ? [{ engine: "the system's Tesseract", env: {} }]
    : []),
];
