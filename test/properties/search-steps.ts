import { deepStrictEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { expectDone, findNewSearch, findRefundedSearch, pick, type Step, step } from './agreement.ts';
import { breaks, describeBreak, index } from './arbitraries.ts';
import * as rules from './money-rules.ts';

/** A search is charged, and then waits for the embedding of its query. One that is never ended is one whose process died. */
const search = fc.record({ workspace: index, at: breaks }).map(({ workspace, at }) =>
  step(
    `search${describeBreak(at)}`,
    () => true,
    async (model, tenant) => {
      const { service } = tenant;
      const workspaceId = pick(model.state.workspaces, workspace).id;
      const refusal = rules.refusesCharge(model.state, 1, workspaceId);
      const input = { workspaceId, query: 'mirrors', limit: 5 };
      if (at) service.breaker.arm(at);
      const { call, result } = await service.ai.callOf(() => tenant.call('documents.search', input));
      const broken = service.breaker.disarm();
      if (!call) {
        const outcome = { ...(await tenant.try(() => result)), broken };
        // The connection may have broken between the charge and the embedding.
        const refunded = broken && refusal === undefined && (await findRefundedSearch(model, tenant));
        if (refunded) return rules.endSearch(rules.addSearch(model.state, refunded, workspaceId), 'refunded');
        if (!expectDone(outcome, refusal)) return;
      }
      const id = await findNewSearch(model, tenant);
      rules.addSearch(model.state, id, workspaceId);
      if (!call) return;
      deepStrictEqual(refusal, undefined);
      tenant.searches.push({ id, call, result });
      model.searches.push(id);
    },
  ),
);

const finish = fc.record({ search: index, found: fc.boolean(), at: breaks }).map(({ search, found, at }) =>
  step(
    `search ${search} ${found ? 'succeeds' : 'fails'}${describeBreak(at)}`,
    ({ searches }) => searches.length > 0,
    async (model, tenant) => {
      const id = pick(model.searches, search);
      model.searches = model.searches.filter((each) => each !== id);
      const [open] = tenant.searches.splice(
        tenant.searches.findIndex((each) => each.id === id),
        1,
      );
      const state = model.state.searches.find((each) => each.id === id);
      if (!open || !state) throw new Error(`there is no search ${id}`);
      if (found) open.call.answer();
      else open.call.fail(false);
      const { value, refusal, error, broken } = await tenant.try(() => open.result, at);
      // What can be settled neither way stays open for the sweep. A reader that breaks makes the search fail.
      const unsettled = broken?.text.includes('open_search') ?? false;
      const succeeded = found && (broken === undefined || unsettled);
      if (unsettled ? broken?.lasting : true) rules.endSearch(state, succeeded ? 'settled' : 'refunded');
      if (succeeded) deepStrictEqual(value, { model: 'stand-in', results: [] });
      else if (!found) deepStrictEqual(refusal?.code, 'SERVICE_UNAVAILABLE');
      else deepStrictEqual(error !== undefined, true);
    },
  ),
);

export const searchSteps: fc.Arbitrary<Step>[] = [search, search, finish, finish];
