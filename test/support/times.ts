import type { Environment } from '../../base/config/environment.ts';
import type { times } from '../../base/config/times.ts';

/** The option of Node that changes the times of a program. */
export const timesHook = `--import=${new URL('./other-times.ts', import.meta.url).href}`;

/** Adds to the variables of a program that some of its times are others than those of a deployment. */
export function withTimes(changed: Partial<typeof times>, env: Environment = {}): Environment {
  const earlier: Partial<typeof times> = JSON.parse(env.OTHER_TIMES ?? '{}');
  const options = (env.NODE_OPTIONS ?? '').split(' ').filter((option) => option !== '' && option !== timesHook);
  return { ...env, NODE_OPTIONS: [...options, timesHook].join(' '), OTHER_TIMES: JSON.stringify({ ...earlier, ...changed }) };
}
