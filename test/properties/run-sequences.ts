import fc from 'fast-check';
import type { Model } from './agreement.ts';
import { jobSteps } from './job-steps.ts';
import { quotaSteps } from './quota-steps.ts';
import { searchSteps } from './search-steps.ts';
import { Service, type ServiceOptions } from './service.ts';
import { subscriptionSteps } from './subscription-steps.ts';
import { Tenant } from './tenant.ts';
import { timeSteps } from './time-steps.ts';

interface SequenceOptions {
  sequences: number;
  /** Makes the same sequences again. */
  seed: number;
  onSequence?: (done: number) => void;
}

interface SequenceCount {
  sequences: number;
  steps: number;
  /** Each with its seed, and the shortest sequence that still fails. */
  differences: string[];
}

/** The services that sequences run on, side by side: the days of some time zones change at other times, and have other lengths. */
const services: ServiceOptions[] = [
  { billing: true, timeZone: 'UTC' },
  { billing: true, timeZone: 'Pacific/Kiritimati' },
  { billing: true, timeZone: 'America/New_York' },
  { billing: false, timeZone: 'UTC' },
];

/** Where sequences begin: before the ends of a year, of February, and of the days that are shorter or longer in New York. */
const beginnings = [
  '2027-12-31T23:50:00Z',
  '2028-02-28T12:00:00Z',
  '2027-02-27T23:59:59.999Z',
  '2027-03-10T18:30:00Z',
  '2027-10-28T02:00:00Z',
];

const anyStep = [...jobSteps, ...jobSteps, ...searchSteps, ...subscriptionSteps, ...quotaSteps, ...timeSteps, ...timeSteps];

const sequences = fc.record({
  beginning: fc.constantFrom(...beginnings),
  // Left to itself fast-check makes most of the first sequences short.
  steps: fc.noBias(fc.commands(anyStep, { maxCommands: 40, size: 'max' })),
});

/** Runs random sequences of everything that moves money, and compares the service with the rules after every step. */
export async function runSequences({ sequences, seed, onSequence = () => {} }: SequenceOptions): Promise<SequenceCount> {
  const count: SequenceCount = { sequences: 0, steps: 0, differences: [] };
  const share = Math.ceil(sequences / services.length);
  await Promise.all(
    services.map((options, index) =>
      runOn(options, { runs: Math.min(share, sequences - index * share), seed: seed + index }, count, () => onSequence(count.sequences)),
    ),
  );
  return count;
}

async function runOn(
  options: ServiceOptions,
  { runs, seed }: { runs: number; seed: number },
  count: SequenceCount,
  onSequence: () => void,
): Promise<void> {
  if (runs <= 0) return;
  const service = await Service.start(options);
  try {
    const property = fc.asyncProperty(sequences, async ({ beginning, steps }) => {
      const taken = await runSteps(service, Date.parse(beginning), steps);
      count.steps += taken;
      count.sequences++;
      onSequence();
    });
    const result = await fc.check(property, { numRuns: runs, seed });
    if (result.failed) count.differences.push(describe(options, result));
  } finally {
    await service.stop();
  }
}

function describe<T>(options: ServiceOptions, result: fc.RunDetails<T>): string {
  const { errorInstance } = result;
  const error = errorInstance instanceof Error ? errorInstance.stack : String(errorInstance);
  return `With ${JSON.stringify(options)}: ${fc.defaultReportMessage(result)}\n${error}`;
}

async function runSteps(service: Service, beginning: number, steps: Parameters<typeof fc.asyncModelRun<Model, Tenant, false, Model>>[1]) {
  const { tenant, state } = await Tenant.create(service, beginning);
  const model: Model = { state, attempts: [], searches: [], steps: 0 };
  try {
    await fc.asyncModelRun(() => ({ model, real: tenant }), steps);
  } finally {
    await tenant.remove();
  }
  return model.steps;
}
