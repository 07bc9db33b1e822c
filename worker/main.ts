import { runProgram } from './start/run-program.ts';
import { startWorkerProgram } from './start/start-worker-program.ts';

await runProgram('worker', process.env, startWorkerProgram);
