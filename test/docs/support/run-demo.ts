import type { Environment } from '../../../base/config/environment.ts';
import type { TestApi } from '../../support/api.ts';
import { type Program, runProgram } from '../../support/processes.ts';

/** What a demo that has ended has done. */
interface DemoRun {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Starts the demo with the given arguments and variables. */
export function startDemo(args: string[], env: Environment): Program {
  return runProgram(process.execPath, ['docs/examples/demo/main.ts', ...args], { env });
}

/** Runs the demo to its end. */
export async function runDemo(args: string[], env: Environment): Promise<DemoRun> {
  const demo = startDemo(args, env);
  const { code } = await demo.exited;
  return { code, stdout: demo.stdout(), stderr: demo.stderr() };
}

/** The variables that point the demo to the service of a test, or to what stands before it. */
export function pointTo(api: TestApi, url = api.url): Environment {
  return { SHEAF_URL: url, TEMPORAL_UI_URL: 'http://temporal.example.com', TEMPORAL_NAMESPACE: api.temporal.namespace };
}
