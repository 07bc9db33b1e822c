import { deepStrictEqual } from 'node:assert/strict';
import type { AsyncCommand } from 'fast-check';
import type { Refusal } from './money-rules.ts';
import type { MoneyState } from './money-state.ts';
import { viewOf } from './money-view.ts';
import { type Observed, observe } from './observe.ts';
import type { Outcome, Tenant } from './tenant.ts';

/** The state that the rules lead to. A box, since fast-check hands the same object to every command. */
export interface Model {
  state: MoneyState;
  /** Names of the attempts, and ids of the searches, whose call of the AI service is open. */
  attempts: { id: string; jobId: string; workspaceId: string | null }[];
  searches: string[];
  /** Steps that were checked. */
  steps: number;
}

export type Step = AsyncCommand<Model, Tenant>;

/** A step, after which everything that can be seen must be as the rules say. `text` is what a failure prints. */
export function step(text: string, check: (model: Model) => boolean, run: (model: Model, tenant: Tenant) => Promise<void>): Step {
  return {
    check,
    toString: () => text,
    async run(model, tenant) {
      await run(model, tenant);
      await expectAgreement(model, tenant);
    },
  };
}

async function expectAgreement(model: Model, tenant: Tenant): Promise<void> {
  const { jobRows: _, documentRows: __, ...seen } = await observe(tenant);
  deepStrictEqual(seen, viewOf(model.state));
  model.steps++;
}

/** The service refused, and said exactly this. */
function expectRefusal({ refusal, value, error }: Outcome<unknown>, expected: Refusal): void {
  if (error) throw error;
  const { code, ...data } = expected;
  deepStrictEqual(refusal ? { code: refusal.code, data: refusal.data } : { value }, {
    code,
    data: code === 'LIMIT_REACHED' ? data : undefined,
  });
}

/** What the service did: nothing if it had to refuse, or if the connection broke before anything lasted; whether it did it. */
export function expectDone(outcome: Outcome<unknown>, refusal: Refusal | undefined): boolean {
  if (outcome.broken) {
    deepStrictEqual(outcome.broken.lasting && refusal, outcome.broken.lasting ? undefined : false);
    return outcome.broken.lasting;
  }
  if (refusal) expectRefusal(outcome, refusal);
  else if (outcome.error || outcome.refusal) throw outcome.error ?? outcome.refusal;
  return refusal === undefined;
}

/** The one job that the service has and the rules do not know yet; of a retry, the one that retries this job. */
export async function findNewJob({ state }: Model, tenant: Tenant, retryOf: string | null = null): Promise<string> {
  const { jobRows } = await observe(tenant);
  return only(jobRows.filter((row) => row.retryOf === retryOf && !state.jobs.some(({ id }) => id === row.id))).id;
}

export async function findNewDocument({ state }: Model, tenant: Tenant): Promise<string> {
  const { documentRows } = await observe(tenant);
  const known = new Set(state.workspaces.flatMap(({ documents }) => documents.map(({ id }) => id)));
  return only(documentRows.filter((id) => !known.has(id)));
}

export async function findNewWorkspace({ state }: Model, tenant: Tenant): Promise<string> {
  const { bytes } = await observe(tenant);
  return only(Object.keys(bytes).filter((id) => !state.workspaces.some((each) => each.id === id)));
}

export async function findNewSearch({ state }: Model, tenant: Tenant): Promise<string> {
  const { openSearches }: Observed = await observe(tenant);
  return only(openSearches.filter((id) => !state.searches.some((each) => each.id === id)));
}

/** The search that the service has charged and refunded, and the rules do not know yet; undefined if there is none. */
export async function findRefundedSearch({ state }: Model, tenant: Tenant): Promise<string | undefined> {
  const { ledger } = await observe(tenant);
  const refunded = ledger.flatMap((entry) => /^search:(.+):refund /.exec(entry)?.[1] ?? []);
  return refunded.find((id) => !state.searches.some((each) => each.id === id));
}

function only<T>(found: T[]): T {
  const [one, ...others] = found;
  if (one === undefined || others.length > 0) throw new Error(`there should be one new row, not ${found.length}`);
  return one;
}

/** One of a list, by a number of any size. */
export function pick<T>(list: T[], index: number): T {
  const one = list[index % list.length];
  if (one === undefined) throw new Error('there is nothing to pick from');
  return one;
}
