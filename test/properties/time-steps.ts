import fc from 'fast-check';
import { type Step, step } from './agreement.ts';
import { dayMs, graceDays, type MoneyState, minuteMs, monthStart } from './money-state.ts';

/** Waits, some of them until the moments at which something changes. */
const waits: Record<string, (state: MoneyState) => number> = {
  'a millisecond': ({ now }) => now + 1,
  'four minutes, twice the time of an attempt': ({ now }) => now + 4 * minuteMs,
  'a millisecond more than that': ({ now }) => now + 4 * minuteMs + 1,
  'eleven minutes': ({ now }) => now + 11 * minuteMs,
  'a day': ({ now }) => now + dayMs,
  'nine days': ({ now }) => now + 9 * dayMs,
  'the last millisecond of the month': ({ now }) => monthStart(now, 1) - 1,
  'the next month': ({ now }) => monthStart(now, 1),
  'the last millisecond of grace': (state) => graceEnd(state) - 1,
  'the end of grace': graceEnd,
};

/** The end of the grace of the subscription that is known to be unpaid longest. */
function graceEnd({ subscriptions }: MoneyState): number {
  return Math.min(...subscriptions.flatMap(({ known }) => known?.unpaid ?? [])) + graceDays * dayMs;
}

export const timeSteps: fc.Arbitrary<Step>[] = [fc.constantFrom(...Object.keys(waits)), fc.constantFrom(...Object.keys(waits))].map(
  (names) =>
    names.map((name) => {
      const until = waits[name] ?? (({ now }) => now);
      const isAhead = (state: MoneyState) => Number.isFinite(until(state)) && until(state) > state.now;
      return step(
        `waits for ${name}`,
        ({ state }) => isAhead(state),
        async ({ state }, tenant) => {
          state.now = until(state);
          await tenant.setTime(state.now);
        },
      );
    }),
);
