import { type Kysely, sql } from 'kysely';

/**
 * The tables of better-auth and of its plugins, with its own camelCase names. A test asks better-auth whether it misses anything.
 * Stricter than its defaults: one membership per user and organization, one account per identity, subscriptions of organizations only.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table "user" (
    id text primary key,
    name text not null,
    email text not null unique,
    "emailVerified" boolean not null default false,
    image text,
    "createdAt" timestamptz(3) not null default now(),
    "updatedAt" timestamptz(3) not null default now(),
    role text,
    banned boolean,
    "banReason" text,
    "banExpires" timestamptz(3),
    "stripeCustomerId" text
  )`,

  `create table session (
    id text primary key,
    token text not null unique,
    "userId" text not null references "user" (id) on delete cascade,
    "expiresAt" timestamptz(3) not null,
    "createdAt" timestamptz(3) not null default now(),
    "updatedAt" timestamptz(3) not null default now(),
    "ipAddress" text,
    "userAgent" text,
    "activeOrganizationId" text,
    "activeTeamId" text,
    "impersonatedBy" text
  )`,
  `create index "session_userId_idx" on session ("userId")`,
  `create index "session_expiresAt_idx" on session ("expiresAt")`,

  `create table account (
    id text primary key,
    "accountId" text not null,
    "providerId" text not null,
    "userId" text not null references "user" (id) on delete cascade,
    "accessToken" text,
    "refreshToken" text,
    "idToken" text,
    "accessTokenExpiresAt" timestamptz(3),
    "refreshTokenExpiresAt" timestamptz(3),
    scope text,
    password text,
    "createdAt" timestamptz(3) not null default now(),
    "updatedAt" timestamptz(3) not null default now(),
    unique ("providerId", "accountId")
  )`,
  `create index "account_userId_idx" on account ("userId")`,

  `create table verification (
    id text primary key,
    identifier text not null,
    value text not null,
    "expiresAt" timestamptz(3) not null,
    "createdAt" timestamptz(3) not null default now(),
    "updatedAt" timestamptz(3) not null default now()
  )`,
  `create index "verification_identifier_idx" on verification (identifier)`,
  `create index "verification_expiresAt_idx" on verification ("expiresAt")`,

  `create table "rateLimit" (
    id text primary key,
    key text not null unique,
    count integer not null,
    "lastRequest" bigint not null
  )`,
  `create index "rateLimit_lastRequest_idx" on "rateLimit" ("lastRequest")`,

  `create table organization (
    id text primary key,
    name text not null,
    slug text not null unique,
    logo text,
    "createdAt" timestamptz(3) not null default now(),
    metadata text,
    "stripeCustomerId" text
  )`,
  `create index "organization_stripeCustomerId_idx" on organization ("stripeCustomerId")`,
  `create index "organization_createdAt_idx" on organization ("createdAt" desc, id desc)`,

  `create table member (
    id text primary key,
    "organizationId" text not null references organization (id) on delete cascade,
    "userId" text not null references "user" (id) on delete cascade,
    role text not null default 'member',
    "createdAt" timestamptz(3) not null default now(),
    unique ("organizationId", "userId")
  )`,
  `create index "member_userId_idx" on member ("userId")`,

  `create table invitation (
    id text primary key,
    "organizationId" text not null references organization (id) on delete cascade,
    email text not null,
    role text,
    "teamId" text,
    status text not null default 'pending',
    "expiresAt" timestamptz(3) not null,
    "createdAt" timestamptz(3) not null default now(),
    "inviterId" text not null references "user" (id) on delete cascade
  )`,
  `create index "invitation_organizationId_idx" on invitation ("organizationId", status)`,
  `create index "invitation_email_idx" on invitation (email)`,
  `create index "invitation_inviterId_idx" on invitation ("inviterId")`,

  `create table team (
    id text primary key,
    name text not null,
    "memberCount" integer not null default 0,
    "organizationId" text not null references organization (id) on delete cascade,
    "createdAt" timestamptz(3) not null default now(),
    "updatedAt" timestamptz(3)
  )`,
  `create index "team_organizationId_idx" on team ("organizationId")`,

  `create table "teamMember" (
    id text primary key,
    "teamId" text not null references team (id) on delete cascade,
    "userId" text not null references "user" (id) on delete cascade,
    "membershipKey" text unique,
    "createdAt" timestamptz(3) default now()
  )`,
  `create index "teamMember_teamId_idx" on "teamMember" ("teamId")`,
  `create index "teamMember_userId_idx" on "teamMember" ("userId")`,

  `create table subscription (
    id text primary key,
    plan text not null,
    "referenceId" text not null references organization (id) on delete cascade,
    "stripeCustomerId" text,
    "stripeSubscriptionId" text unique,
    status text not null default 'incomplete',
    "periodStart" timestamptz(3),
    "periodEnd" timestamptz(3),
    "trialStart" timestamptz(3),
    "trialEnd" timestamptz(3),
    "cancelAtPeriodEnd" boolean default false,
    "cancelAt" timestamptz(3),
    "canceledAt" timestamptz(3),
    "endedAt" timestamptz(3),
    seats integer,
    "billingInterval" text,
    "stripeScheduleId" text
  )`,
  `create index "subscription_referenceId_idx" on subscription ("referenceId")`,
  `create index "subscription_stripeCustomerId_idx" on subscription ("stripeCustomerId")`,
];
