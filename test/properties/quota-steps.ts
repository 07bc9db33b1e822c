import { deepStrictEqual } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type pg from 'pg';
import type { Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { endPlanOverride, overridePlan } from '../../domain/billing/override-plan.ts';
import { expectDone, findNewDocument, findNewWorkspace, type Model, pick, type Step, step } from './agreement.ts';
import { breaks, describeBreak, index } from './arbitraries.ts';
import * as rules from './money-rules.ts';
import { dayMs, type PlanName, planLimits } from './money-state.ts';
import { byHandOf, pendingOf, reason } from './money-view.ts';
import type { Tenant } from './tenant.ts';

const always = () => true;

const createWorkspace = breaks.map((at) =>
  step(`creates a workspace${describeBreak(at)}`, always, async (model, tenant) => {
    const { organizationId } = tenant;
    const refusal = rules.refusesWorkspace(model.state);
    const slug = tenant.newName('workspace');
    const outcome = await tenant.try(() => tenant.call('workspaces.create', { organizationId, name: slug, slug }), at);
    if (!expectDone(outcome, refusal)) return;
    model.state.workspaces.push({ id: outcome.value?.id ?? (await findNewWorkspace(model, tenant)), documents: [], budget: null });
  }),
);

/** The first workspace stays: a search needs one. */
const deleteWorkspace = fc.record({ which: index, at: breaks }).map(({ which, at }) =>
  step(
    `deletes a workspace(${which}${describeBreak(at)})`,
    ({ state }) => state.workspaces.length > 1,
    async ({ state }, tenant) => {
      const { id } = pick(state.workspaces.slice(1), which);
      if (expectDone(await tenant.try(() => tenant.call('workspaces.delete', { id }), at), undefined)) rules.removeWorkspace(state, id);
    },
  ),
);

const upload = fc.record({ workspace: index, bytes: fc.integer({ min: 1, max: 150 }), at: breaks }).map(({ workspace, bytes, at }) =>
  step(`uploads ${bytes} bytes(${workspace}${describeBreak(at)})`, always, async (model, tenant) => {
    const target = pick(model.state.workspaces, workspace);
    const refusal = rules.refusesBytes(model.state, target, bytes);
    const input = { workspaceId: target.id, name: 'a.txt', contentType: 'text/plain', size: bytes };
    const outcome = await tenant.try(() => tenant.call('documents.createUpload', input), at);
    if (!expectDone(outcome, refusal)) return;
    const id = outcome.value?.document.id ?? (await findNewDocument(model, tenant));
    target.documents.push({ id, bytes, ready: false });
  }),
);

/** A budget of a workspace is set, or lifted. */
const budget = fc.record({ which: index, credits: fc.option(fc.nat({ max: 12 })), at: breaks }).map(({ which, credits, at }) =>
  step(`budgets a workspace(${which}, ${credits}${describeBreak(at)})`, always, async ({ state }, tenant) => {
    const target = pick(state.workspaces, which);
    const outcome = await tenant.try(() => tenant.call('workspaces.update', { id: target.id, creditBudget: credits }), at);
    if (expectDone(outcome, undefined)) target.budget = credits;
  }),
);

const planNames = fc.constantFrom(...(Object.keys(planLimits) as PlanName[]));

const giveByHand = fc
  .record({ plan: fc.option(planNames), aiCredits: fc.option(fc.nat({ max: 40 })), days: fc.integer({ min: 1, max: 40 }) })
  .map(({ plan, aiCredits, days }) =>
    step(
      `gives by hand(${plan}, ${aiCredits} credits, ${days} days)`,
      ({ state }) => state.billing && (plan !== null || aiCredits !== null),
      async ({ state }, { organizationId, service }) => {
        const until = state.now + days * dayMs;
        const limits = aiCredits === null ? {} : { aiCredits };
        const given = { organizationId, limits, until: new Date(until).toISOString(), reason, ...(plan && { plan }) };
        await inTransaction(service.database.db, (trx) => overridePlan(trx, systemActor, given));
        state.byHand = { plan, aiCredits, until };
      },
    ),
  );

const takeBack = fc.constant(
  step(
    'ends what is given by hand',
    ({ state }) => byHandOf(state) !== undefined,
    async ({ state }, { organizationId, service }) => {
      await inTransaction(service.database.db, (trx) => endPlanOverride(trx, systemActor, organizationId));
      state.byHand = null;
    },
  ),
);

const documentsOf = ({ state }: Model) =>
  state.workspaces.flatMap((workspace) => workspace.documents.map((document) => ({ workspace, document })));
const hasDocuments = (model: Model) => documentsOf(model).length > 0;

/** An upload completes, with fewer bytes than were declared. */
const complete = fc.record({ which: index, fewer: fc.nat({ max: 80 }), at: breaks }).map(({ which, fewer, at }) =>
  step(`completes an upload(${which}, ${fewer} bytes fewer${describeBreak(at)})`, hasDocuments, async (model, tenant) => {
    const { workspace, document } = pick(documentsOf(model), which);
    const bytes = Math.max(1, document.bytes - fewer);
    const refusal = document.ready ? undefined : rules.refusesBytes(model.state, workspace, bytes - document.bytes);
    tenant.service.objectBytes = bytes;
    const outcome = await tenant.try(() => tenant.call('documents.complete', { id: document.id }), at);
    if (!expectDone(outcome, refusal) || document.ready) return;
    Object.assign(document, { bytes, ready: true });
  }),
);

const deleteDocument = fc.record({ which: index, at: breaks }).map(({ which, at }) =>
  step(`deletes a document(${which}${describeBreak(at)})`, hasDocuments, async (model, tenant) => {
    const { workspace, document } = pick(documentsOf(model), which);
    const outcome = await tenant.try(() => tenant.call('documents.delete', { id: document.id }), at);
    if (expectDone(outcome, undefined)) workspace.documents = workspace.documents.filter((each) => each !== document);
  }),
);

/** A member joins without an invitation. Rows of members and invitations are written as better-auth writes them. */
const join = fc.constant(
  step('a member joins', always, async ({ state }, tenant) => {
    const refusal = rules.refusesMember(state);
    const id = randomUUID();
    const done = await write(tenant, refusal, async (trx) => {
      await insertUser(trx, id);
      await insertMember(trx, tenant, id);
    });
    if (done) state.members.push(id);
  }),
);

const leave = index.map((which) =>
  step(
    `member ${which} leaves`,
    ({ state }) => state.members.length > 0,
    async ({ state }, tenant) => {
      const id = pick(state.members, which);
      await write(tenant, undefined, (trx) => trx.deleteFrom('member').where('id', '=', id).execute());
      state.members = state.members.filter((each) => each !== id);
    },
  ),
);

const invite = fc.constant(
  step('somebody is invited', always, async ({ state }, tenant) => {
    const refusal = rules.refusesMember(state);
    const { organizationId, owner } = tenant;
    const id = `${String(state.now).padStart(15, '0')}-${tenant.newName('invitation').padStart(20, '0')}-${organizationId}`;
    const invitation = { id, email: `${id}@example.com`, createdAt: state.now, expiresAt: state.now + 2 * dayMs };
    const { email, createdAt, expiresAt } = invitation;
    const row = { id, email, organizationId, role: 'member', status: 'pending', inviterId: owner.userId };
    const dates = { createdAt: new Date(createdAt), expiresAt: new Date(expiresAt) };
    const done = await write(tenant, refusal, (trx) =>
      trx
        .insertInto('invitation')
        .values({ ...row, ...dates })
        .execute(),
    );
    if (done) state.invitations.push(invitation);
  }),
);

const accept = index.map((which) =>
  step(
    `invitation ${which} is accepted`,
    ({ state }) => pendingOf(state).length > 0,
    async ({ state }, tenant) => {
      const { id, email } = pick(pendingOf(state), which);
      const refusal = rules.refusesAcceptance(state, id);
      const member = randomUUID();
      const done = await write(tenant, refusal, async (trx) => {
        await insertUser(trx, member, email);
        await trx.updateTable('invitation').set({ status: 'accepted' }).where('id', '=', id).execute();
        await insertMember(trx, tenant, member);
      });
      if (!done) return;
      state.invitations = state.invitations.filter((each) => each.id !== id);
      state.members.push(member);
    },
  ),
);

function insertUser(trx: Transaction, id: string, email = `${id}@example.com`): Promise<unknown> {
  return trx.insertInto('user').values({ id, name: 'Bob', email }).execute();
}

function insertMember(trx: Transaction, { organizationId }: Tenant, id: string): Promise<unknown> {
  return trx.insertInto('member').values({ id, organizationId, userId: id, role: 'member' }).execute();
}

/** Writes what the triggers may refuse, in a transaction; whether they let it happen. */
async function write(tenant: Tenant, refusal: rules.Refusal | undefined, work: (trx: Transaction) => Promise<unknown>): Promise<boolean> {
  const { error } = await tenant.try(() => tenant.service.database.db.transaction().execute(work));
  if (!refusal && error) throw error;
  if (!refusal) return true;
  const { message, detail } = (error ?? {}) as pg.DatabaseError;
  deepStrictEqual({ code: message, ...JSON.parse(detail ?? '{}') }, refusal);
  return false;
}

export const quotaSteps: fc.Arbitrary<Step>[] = [
  budget,
  budget,
  giveByHand,
  takeBack,
  createWorkspace,
  deleteWorkspace,
  upload,
  complete,
  deleteDocument,
  join,
  leave,
  invite,
  accept,
];
