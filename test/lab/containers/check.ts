/** What a check found. */
export interface CheckResult {
  name: string;
  /** What was seen, in a few words, or what is wrong. */
  seen: string;
  ok: boolean;
}

/** Runs a check, which returns what it saw and throws if that is wrong. */
export async function check(name: string, see: () => Promise<string>): Promise<CheckResult> {
  try {
    return { name, seen: await see(), ok: true };
  } catch (error) {
    return { name, seen: error instanceof Error ? error.message : String(error), ok: false };
  }
}

/** Throws unless two values are the same as JSON. */
export function same(what: string, found: unknown, expected: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
}
