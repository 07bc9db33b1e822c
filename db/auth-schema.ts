import type { ColumnType, Generated, RawBuilder } from 'kysely';

type CreatedAt = ColumnType<Date, Date | undefined, Date>;
type NullableDate = ColumnType<Date | null, Date | null | undefined, Date | null>;

/** The columns of better-auth's tables that our queries read, and the tables that go with them. */
export interface AuthTables {
  user: {
    id: string;
    name: string;
    email: string;
    emailVerified: Generated<boolean>;
    image: string | null;
    /** `admin` marks a platform admin; one role, never a list. */
    role: string | null;
    banned: boolean | null;
    banExpires: NullableDate;
    twoFactorEnabled: Generated<boolean | null>;
    createdAt: CreatedAt;
    updatedAt: CreatedAt;
  };
  /** An account of a user at a provider, or their password (`credential`). `accountId` is the provider's own id of the person. */
  account: {
    id: string;
    providerId: string;
    accountId: string;
    userId: string;
    /** A hash; null at a provider. */
    password: string | null;
    setByAdmin: Generated<boolean>;
  };
  /** Its secret and codes are encrypted. */
  twoFactor: {
    id: string;
    userId: string;
    secret: string;
    verified: boolean | null;
    failedVerificationCount: Generated<number>;
    lockedUntil: NullableDate;
    /** The step of 30 s since 1970 of the last code that was taken. */
    lastStep: Generated<number>;
    /** The session that turned it on. */
    sessionId: string | null;
  };
  /** A change of a user's address that waits for the link with this digest. `confirmed` by the present address, or not yet. */
  email_change: {
    user_id: string;
    new_email: string;
    token_hash: string;
    confirmed: boolean;
    expires_at: ColumnType<Date, RawBuilder<Date>>;
  };
  /** A device from which a user has signed in, by the digest of what it is known by. */
  known_device: { user_id: string; fingerprint: string; seen_at: Generated<Date> };
  /** Links in mails, sign-ins that wait for a second factor, and trusted devices. `value` names the user. */
  verification: { id: string; identifier: string; value: string; expiresAt: Date; createdAt: CreatedAt; userAgent: string | null };
  session: {
    id: string;
    token: string;
    userId: string;
    expiresAt: Date;
    createdAt: CreatedAt;
    updatedAt: CreatedAt;
    impersonatedBy: string | null;
    activeOrganizationId: string | null;
  };
  organization: { id: string; name: string; slug: string; createdAt: CreatedAt; stripeCustomerId: string | null };
  member: { id: string; organizationId: string; userId: string; role: Generated<string>; createdAt: CreatedAt };
  invitation: {
    id: string;
    organizationId: string;
    email: string;
    role: string | null;
    status: Generated<string>;
    expiresAt: Date;
    createdAt: CreatedAt;
    inviterId: string;
    /** Set while an invitation is being accepted: until then its seat counts as taken. */
    seatHeldUntil: NullableDate;
  };
  team: { id: string; name: string; organizationId: string; createdAt: CreatedAt };
  subscription: {
    id: string;
    plan: string;
    /** The id of the organization. */
    referenceId: string;
    stripeCustomerId: string | null;
    stripeSubscriptionId: string | null;
    status: Generated<string>;
    periodStart: NullableDate;
    periodEnd: NullableDate;
    trialStart: NullableDate;
    trialEnd: NullableDate;
    cancelAtPeriodEnd: boolean | null;
    cancelAt: NullableDate;
    createdAt: NullableDate;
    canceledAt: NullableDate;
    endedAt: NullableDate;
    seats: number | null;
    billingInterval: string | null;
    stripeScheduleId: string | null;
    /** When the stored response of Stripe was written. */
    syncedAt: ColumnType<Date | null, Date | RawBuilder<Date> | null | undefined, Date | RawBuilder<Date> | null>;
    /** The number of the request whose response the row holds, from the sequence `subscription_fetch`. */
    syncedFetch: Generated<number>;
    /** When the first unpaid renewal was due; null if every renewal is paid. */
    pastDueSince: NullableDate;
  };
  plan_limit: { plan: string; members: number; dunning_days: number };
  auth_limit: { name: string; value: number };
  stripe_event: { id: string; type: string; created_at: CreatedAt };
}
