/** Measures the steps of a command. `step` resolves as the work does, and remembers how long it took, in milliseconds. */
export function createStopwatch<Step extends string>() {
  const tookMs: Partial<Record<Step, number>> = {};
  return {
    tookMs,
    async step<T>(name: Step, work: () => Promise<T>): Promise<T> {
      const startedAt = performance.now();
      try {
        return await work();
      } finally {
        tookMs[name] = Math.round(performance.now() - startedAt);
      }
    },
    /** `12.3 s (database 10.1 s, objects 2.2 s)`. */
    describe(): string {
      const steps = Object.entries<number>(tookMs as Record<Step, number>);
      const total = steps.reduce((sum, [, ms]) => sum + ms, 0);
      return `${seconds(total)} (${steps.map(([name, ms]) => `${name} ${seconds(ms)}`).join(', ')})`;
    },
  };
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
