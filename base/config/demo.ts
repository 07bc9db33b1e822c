import { z } from 'zod';
import { type Environment, httpUrl, parseEnvironment } from './environment.ts';

/** The variables of the demo. */
export const demoEnvironment = z.object({
  SHEAF_URL: httpUrl().optional(),
  TEMPORAL_UI_URL: httpUrl().optional(),
  TEMPORAL_NAMESPACE: z.string().default('default'),
});

/** The configuration of `npm run demo`: a service to use instead of the local one, and the UI of its workflows. */
export interface DemoConfig {
  url: string | undefined;
  temporalUiUrl: string | undefined;
  temporalNamespace: string;
}

/** Reads the configuration of the demo. Throws ConfigurationError naming every problem at once. */
export function loadDemoConfig(env: Environment): DemoConfig {
  const e = parseEnvironment(demoEnvironment, env);
  return { url: e.SHEAF_URL, temporalUiUrl: e.TEMPORAL_UI_URL, temporalNamespace: e.TEMPORAL_NAMESPACE };
}
