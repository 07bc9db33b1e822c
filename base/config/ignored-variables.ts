import type { Logger } from 'pino';
import type { Environment } from './environment.ts';
import { secretVariables } from './secret-files.ts';
import { variables } from './variables.ts';

/** How names begin that no other program is likely to give a variable. */
const ours = /^(?:AI|EMBEDDED|JOB|LOCAL_(?:EMBED|PREVIOUS)|OCR|PLAN|PROVIDER_[AB]|REMOTE_AI|STORAGE|STRIPE|WEBHOOKS?|WORKER)_/;
/** Kubernetes adds such ones for each service, perhaps one named `ai`: `AI_SERVICE_HOST`, and `AI_PORT_8000_TCP=tcp://10.0.0.1:8000`. */
const ofKubernetes = /_SERVICE_(?:HOST|PORT)|_PORT_\d/;
const known = new Set([...Object.values(variables).flat(), ...secretVariables.map((name) => `${name}_FILE`)]);

/** Warns of variables that look like settings of this service, and that none of its programs reads: by their names, in one line. */
export function warnOfIgnored(env: Environment, log: Pick<Logger, 'warn'>): void {
  const isIgnored = (name: string) => ours.test(name) && !known.has(name) && !ofKubernetes.test(name) && env[name]?.trim();
  const ignored = Object.keys(env).filter(isIgnored).sort();
  if (ignored.length > 0) log.warn({ ignored }, 'settings are ignored: their names are misspelt, or of another version');
}
