/** The variables that import a file beside this one before a program. */
export function withHook(name: string, env: Record<string, string> = {}): Record<string, string> {
  return { NODE_OPTIONS: `--import=${new URL(name, import.meta.url).href}`, ...env };
}
