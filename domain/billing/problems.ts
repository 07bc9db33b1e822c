import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import type { BillingProblemKind } from '../../db/schema.ts';
import { isLive } from './live-subscription.ts';

/** Something at the payment provider that only an operator can put right. */
interface BillingProblem {
  kind: BillingProblemKind;
  /** The payment provider's id of the affected object. */
  subject: string;
  organization_id: string | null;
  stripe_customer_id: string | null;
  stripe_subscription_id: string | null;
}

/** What an operator can do about each kind. */
export const remedies: Record<BillingProblemKind, string> = {
  'unknown-customer': 'A customer of no organization pays for it: cancel it at Stripe and refund what was paid.',
  'subscription-missing': 'Stripe does not know it: check that the key is of the right account.',
  'several-subscriptions':
    'The organization pays for more than one: refund all but one, and cancel them at Stripe. Of those bought at checkouts all but one end with their period by themselves.',
  'customer-left': 'No organization has it: unless another deployment shares the account, delete the customer at Stripe.',
  'customer-missing': 'Stripe does not know the customer of the organization: check that the key is of the right account.',
  'customer-deleted':
    'It was deleted at Stripe, and its subscriptions ended with it. Nothing has to be mended: the next checkout makes a new customer. If that was a mistake, tell the organization to subscribe again, and refund what is left of its period.',
  'ended-with-organization':
    'It was live at Stripe when its organization was deleted, and ended with it: refund what is left of its period, then run `npm run ops -- billing --refunded` with its id.',
};

/** What a problem is about: a subscription or, without one, a customer; by the payment provider's ids. */
interface Affected {
  organizationId: string | null;
  customer: string | null;
  subscription?: string;
}

/** Records a problem, or that it occurred again. */
export async function reportProblem(
  db: Db | Transaction,
  kind: BillingProblemKind,
  { organizationId, customer, subscription }: Affected,
): Promise<void> {
  const ids = { organization_id: organizationId, stripe_customer_id: customer, stripe_subscription_id: subscription ?? null };
  await db
    .insertInto('billing_problem')
    .values({ kind, subject: subscription ?? customer ?? '', ...ids })
    .onConflict((conflict) =>
      conflict
        .columns(['kind', 'subject'])
        .doUpdateSet({ seen_at: sql<Date>`now()`, resolved_at: null })
        .where('billing_problem.resolved_at', 'is not', null),
    )
    .execute();
}

/** Marks a problem as resolved. Returns false if there was none. */
export async function resolveProblem(db: Db | Transaction, kind: BillingProblemKind, subject: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('billing_problem')
    .set({ resolved_at: sql<Date>`now()` })
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .where('resolved_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** The problems that are not resolved, the oldest first, each with how long it has been there. */
export async function listProblems(db: Db, limit: number): Promise<(BillingProblem & { ageSeconds: number })[]> {
  return await db
    .selectFrom('billing_problem')
    .select(['kind', 'subject', 'organization_id', 'stripe_customer_id', 'stripe_subscription_id'])
    .select(sql<number>`extract(epoch from now() - seen_at)::integer`.as('ageSeconds'))
    .where('resolved_at', 'is', null)
    .orderBy('seen_at')
    .limit(limit)
    .execute();
}

/** The subjects of the unresolved problems of a kind. */
export async function listSubjects(db: Db, kind: BillingProblemKind): Promise<string[]> {
  const rows = await db.selectFrom('billing_problem').select('subject').where('kind', '=', kind).where('resolved_at', 'is', null).execute();
  return rows.map(({ subject }) => subject);
}

/**
 * Resolves the problems of customers that belong to an organization by now or are gone at Stripe; the customers in `left` still have
 * theirs.
 */
export async function resolveLeft(db: Db, left: Set<string>): Promise<void> {
  await db
    .updateTable('billing_problem')
    .set({ resolved_at: sql<Date>`now()` })
    .where('kind', '=', 'customer-left')
    .where('resolved_at', 'is', null)
    .where(sql<boolean>`subject <> all(${[...left]}::text[])`)
    .execute();
}

/** Resolves the problems of subscriptions that an operator has ended, or whose organization is gone. */
export async function resolveEnded(db: Db): Promise<void> {
  const live = sql`select from subscription where "stripeSubscriptionId" is not null and ${isLive}`;
  await db
    .updateTable('billing_problem')
    .set({ resolved_at: sql<Date>`now()` })
    .where('resolved_at', 'is', null)
    .where(
      sql<boolean>`(
        kind = 'subscription-missing' and not exists (${live} and "stripeSubscriptionId" = subject)
        or kind = 'several-subscriptions' and not exists (${live} and "referenceId" = organization_id offset 1)
      )`,
    )
    .execute();
}

/** Resolves the problems of customers that no organization has any more: the organization is gone or has another customer. */
export async function resolveMissing(db: Db): Promise<void> {
  await db
    .updateTable('billing_problem')
    .set({ resolved_at: sql<Date>`now()` })
    .where('kind', 'in', ['customer-missing', 'customer-deleted'])
    .where('resolved_at', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('organization').select('id').whereRef('organization.stripeCustomerId', '=', 'billing_problem.subject'))),
    )
    .execute();
}
