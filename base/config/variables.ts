import { aiServiceEnvironment } from './ai-service.ts';
import { demoEnvironment } from './demo.ts';
import { localEnvironment } from './local.ts';
import { opsEnvironment } from './ops.ts';
import { serverEnvironment } from './server-environment.ts';

/** The names of the variables that each program reads. */
export const variables = {
  server: Object.keys(serverEnvironment.shape),
  aiService: Object.keys(aiServiceEnvironment.shape),
  ops: Object.keys(opsEnvironment.shape),
  local: Object.keys(localEnvironment.shape),
  demo: Object.keys(demoEnvironment.shape),
};
