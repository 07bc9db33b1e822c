import { runProgram } from '../worker/start/run-program.ts';
import { startApi } from './start/start-api.ts';

await runProgram('api', process.env, startApi);
