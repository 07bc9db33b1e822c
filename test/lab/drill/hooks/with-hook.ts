import { timesHook } from '../../../support/times.ts';

/** The variables that import a file beside this one before a program of the drill, which keeps its short times. */
export function withHook(name: string, env: Record<string, string> = {}): Record<string, string> {
  return { NODE_OPTIONS: `${timesHook} --import=${new URL(name, import.meta.url).href}`, ...env };
}
