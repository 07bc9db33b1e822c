-- The tables of the first release. Functions and triggers are in db/triggers. What changes a table later is a migration of its own.

-- A number is taken before Stripe is asked: an answer never replaces one with a higher number.
create sequence subscription_fetch;

create table "user" (
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
  "stripeCustomerId" text,
  constraint user_email_length check (char_length(email) <= 254),
  constraint user_image_length check (char_length(image) <= 2048),
  -- Only organizations are customers; the Stripe plugin would let a user name somebody else's customer here.
  constraint user_is_no_customer check ("stripeCustomerId" is null),
  constraint user_name_length check (char_length(name) <= 120),
  -- One role per user, so that `admin` is the whole value wherever it is read.
  constraint user_role_known check (role in ('user', 'admin'))
);

create table session (
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
);
create index "session_expiresAt_idx" on session ("expiresAt");
create index "session_userId_idx" on session ("userId");

create table account (
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
  constraint "account_providerId_accountId_key" unique ("providerId", "accountId")
);
create index "account_userId_idx" on account ("userId");

create table verification (
  id text primary key,
  identifier text not null,
  value text not null,
  "expiresAt" timestamptz(3) not null,
  "createdAt" timestamptz(3) not null default now(),
  "updatedAt" timestamptz(3) not null default now()
);
create index "verification_expiresAt_idx" on verification ("expiresAt");
create index verification_identifier_idx on verification (identifier);
create index verification_value on verification using hash (value);

create table "rateLimit" (
  id text primary key,
  key text not null unique,
  count integer not null,
  "lastRequest" bigint not null
);
create index "rateLimit_lastRequest_idx" on "rateLimit" ("lastRequest");

create table organization (
  id text primary key,
  name text not null,
  slug text not null unique,
  logo text,
  "createdAt" timestamptz(3) not null default now(),
  metadata text,
  "stripeCustomerId" text,
  constraint organization_logo_length check (char_length(logo) <= 2048),
  constraint organization_metadata_length check (char_length(metadata) <= 10000),
  constraint organization_name_length check (char_length(name) <= 80),
  constraint organization_slug_form check (((length(slug) >= 2) and (length(slug) <= 48)) and (slug ~ '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$'))
);
create index "organization_createdAt_idx" on organization ("createdAt" desc, id desc);
create index organization_name on organization (lower(name), id);
create index "organization_stripeCustomerId_idx" on organization ("stripeCustomerId");

create table member (
  id text primary key,
  "organizationId" text not null references organization (id) on delete cascade,
  "userId" text not null references "user" (id) on delete cascade,
  role text not null default 'member',
  "createdAt" timestamptz(3) not null default now(),
  constraint "member_organizationId_userId_key" unique ("organizationId", "userId"),
  -- One spelling of several roles: "member, owner" means member to better-auth, and must not mean owner to anyone.
  constraint member_role_known check (role ~ '^(owner|admin|member)(,(owner|admin|member))*$')
);
create index "member_userId_idx" on member ("userId");

create table invitation (
  id text primary key,
  "organizationId" text not null references organization (id) on delete cascade,
  email text not null,
  role text,
  "teamId" text,
  status text not null default 'pending',
  "expiresAt" timestamptz(3) not null,
  "createdAt" timestamptz(3) not null default now(),
  "inviterId" text not null references "user" (id) on delete cascade,
  -- Between better-auth's two writes of an acceptance (the invitation, then the member) nobody else may take the seat.
  "seatHeldUntil" timestamptz(3),
  constraint invitation_email_length check (char_length(email) <= 254),
  constraint invitation_role_known check (role ~ '^(owner|admin|member)(,(owner|admin|member))*$')
);
create index invitation_email_idx on invitation (email);
create index "invitation_inviterId_idx" on invitation ("inviterId");
create index "invitation_organizationId_idx" on invitation ("organizationId", status);

create table team (
  id text primary key,
  name text not null,
  "memberCount" integer not null default 0,
  "organizationId" text not null references organization (id) on delete cascade,
  "createdAt" timestamptz(3) not null default now(),
  "updatedAt" timestamptz(3),
  constraint team_name_length check (char_length(name) <= 80)
);
create index "team_organizationId_idx" on team ("organizationId");

create table "teamMember" (
  id text primary key,
  "teamId" text not null references team (id) on delete cascade,
  "userId" text not null references "user" (id) on delete cascade,
  "membershipKey" text unique,
  "createdAt" timestamptz(3) default now()
);
create index "teamMember_teamId_idx" on "teamMember" ("teamId");
create index "teamMember_userId_idx" on "teamMember" ("userId");

create table subscription (
  id text primary key,
  plan text not null,
  "referenceId" text not null references organization (id) on delete cascade,
  "stripeCustomerId" text,
  "stripeSubscriptionId" text unique,
  -- When Stripe made it.
  "createdAt" timestamptz(3),
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
  "stripeScheduleId" text,
  -- When the row was last overwritten with what Stripe answered: an older answer never replaces a newer one.
  "syncedAt" timestamptz(3),
  -- The days of grace are counted from here: the payment provider moves the period of an unpaid subscription.
  "pastDueSince" timestamptz(3),
  "syncedFetch" bigint not null default 0
);
create index "subscription_referenceId_idx" on subscription ("referenceId");
create index "subscription_stripeCustomerId_idx" on subscription ("stripeCustomerId");

create table workspace (
  id text primary key,
  organization_id text not null references organization (id) on delete cascade,
  team_id text references team (id) on delete set null,
  name text not null,
  slug text not null,
  used_bytes bigint not null default 0 check (used_bytes >= 0),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint workspace_organization_id_slug_key unique (organization_id, slug)
);
create index workspace_team on workspace (team_id) where (team_id is not null);

create table document (
  id text primary key,
  organization_id text not null references organization (id) on delete cascade,
  workspace_id text not null,
  uploaded_by text,
  name text not null,
  content_type text not null,
  size_bytes bigint not null check (size_bytes >= 0),
  status text not null default 'pending' check (status in ('pending', 'ready')),
  object_key text not null unique,
  extracted_characters integer,
  extracted_pages integer,
  extracted_truncated boolean,
  extracted_at timestamptz(3),
  indexed_at timestamptz(3),
  chunk_count integer,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  tags text[] not null default '{}',
  metadata json not null default '{}',
  labels bigint[],
  label_bytes integer not null default 0,
  extracted_ocr_pages integer,
  extracted_ocr_confidence smallint[],
  constraint document_tenant unique (id, workspace_id, organization_id)
);
-- The labels begin with the workspace, so that a search reads only its own. Without fastupdate=off every search would also read GIN's
-- list of pending entries, which all workspaces share.
create index document_content_type on document (workspace_id, content_type, created_at desc, id desc);
create index document_indexed on document (workspace_id, indexed_at) where (indexed_at is not null);
create index document_labels on document using gin (labels) with (fastupdate=off) where (labels is not null);
create index document_organization on document (organization_id);
create index document_page on document (workspace_id, created_at desc, id desc);
create index document_pending on document (created_at) where (status = 'pending');
create index document_pending_page on document (workspace_id, created_at desc, id desc) where (status = 'pending');

create table document_text (
  document_id text primary key references document (id) on delete cascade,
  text text not null,
  outline jsonb not null
);

-- A chunk refers to its document with the tenant, so that none can name another workspace or organization than its document's.
create table chunk (
  id text primary key,
  organization_id text not null,
  workspace_id text not null,
  document_id text not null,
  index integer not null,
  text text not null,
  model text not null,
  embedding real[] not null,
  text_start integer,
  text_end integer,
  page integer,
  page_breaks integer[],
  headings text[],
  constraint chunk_document_fkey foreign key (document_id, workspace_id, organization_id) references document (id, workspace_id, organization_id) on delete cascade
) with (toast_tuple_target=8160);
create unique index chunk_document on chunk (document_id, index);
create index chunk_workspace on chunk (workspace_id, model);

create table job (
  id text primary key,
  organization_id text not null references organization (id) on delete cascade,
  workspace_id text,
  document_id text,
  former_workspace_id text,
  kind text not null,
  status text not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'failed', 'canceled')),
  input jsonb not null,
  retry_of text,
  replay_run text,
  result jsonb,
  error_code text,
  error_message text,
  attempts integer not null default 0,
  max_attempts integer not null,
  claimed_by text,
  credits integer not null,
  credit_month date not null,
  created_by text,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  next_attempt_at timestamptz(3),
  updated_at timestamptz(3) not null default now(),
  swept_at timestamptz(3),
  input_bytes integer,
  result_bytes integer,
  constraint job_check check (attempts <= max_attempts)
);
create index job_changed on job (organization_id, updated_at);
create index job_document_page on job (document_id, created_at desc, id desc);
create index job_failed on job (finished_at) where (status = 'failed');
-- A replay reads failed jobs by their id, a page at a time.
create index job_failed_id on job (id) where (status = 'failed');
create index job_finished on job (finished_at) where (finished_at is not null);
create index job_former_workspace on job (former_workspace_id) where (former_workspace_id is not null);
create index job_page on job (organization_id, created_at desc, id desc);
create index job_queued on job (coalesce(swept_at, created_at)) where (status = 'queued');
create index job_retry on job (retry_of) where (retry_of is not null);
create unique index job_retry_once_per_run on job (retry_of, replay_run) where (replay_run is not null);
create index job_running on job (started_at) where (status = 'running');
create index job_status_page on job (organization_id, status, created_at desc, id desc);
create index job_workspace_page on job (workspace_id, created_at desc, id desc);

create table credit_entry (
  id bigint generated always as identity primary key,
  organization_id text not null references organization (id) on delete cascade,
  key text not null unique,
  amount integer not null check (amount <> 0),
  month date not null,
  job_id text,
  reason text not null,
  created_at timestamptz(3) not null default now()
);
create index credit_entry_job on credit_entry (job_id);
create index credit_entry_month on credit_entry (organization_id, month);

create table credit_month (
  organization_id text references organization (id) on delete cascade,
  month date,
  used bigint not null check (used >= 0),
  primary key (organization_id, month)
);

-- Searches that were charged and have not ended yet. The ledger does not say which of its charges are settled.
create table open_search (
  id text primary key,
  organization_id text not null references organization (id) on delete cascade,
  month date not null,
  charged_at timestamptz(3) not null default now()
);

create table audit_entry (
  id text primary key,
  organization_id text,
  actor_id text,
  actor_email text,
  impersonated_by text,
  action text not null,
  target_type text,
  target_id text,
  metadata jsonb,
  created_at timestamptz(3) not null default now()
);
create index audit_entry_actor_page on audit_entry (actor_id, created_at desc, id desc);
create index audit_entry_page on audit_entry (organization_id, created_at desc, id desc);
create index audit_entry_platform_page on audit_entry (created_at desc, id desc);
create index audit_entry_target_page on audit_entry (target_id, created_at desc, id desc);

create table outbox (
  id bigint generated always as identity primary key,
  workflow_id text not null,
  intent jsonb not null,
  attempts integer not null default 0,
  last_error text,
  lease_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  traceparent text
);
create index outbox_workflow on outbox (workflow_id, id);

create table object_to_delete (
  key text primary key,
  organization_id text not null,
  attempts integer not null default 0,
  last_error text,
  next_attempt_at timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now()
);
create index object_to_delete_created on object_to_delete (created_at);
create index object_to_delete_due on object_to_delete (next_attempt_at);
create index object_to_delete_next on object_to_delete (organization_id, next_attempt_at, key);
create index object_to_delete_refused on object_to_delete (organization_id) where (attempts > 0);
create index object_to_delete_refused_at on object_to_delete (created_at) where (attempts > 0);

create table organization_deletion (
  organization_id text primary key references organization (id) on delete cascade,
  requested_by text,
  created_at timestamptz(3) not null default now()
);

create table idempotency_key (
  user_id text references "user" (id) on delete cascade,
  operation text,
  key text,
  request_hash text not null,
  response jsonb,
  created_at timestamptz(3) not null default now(),
  primary key (user_id, operation, key)
);
create index idempotency_key_created on idempotency_key (created_at);

create table feature_flag (
  key text primary key,
  description text not null default '',
  enabled boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

create table feature_flag_override (
  flag_key text references feature_flag (key) on delete cascade,
  organization_id text references organization (id) on delete cascade,
  enabled boolean not null,
  primary key (flag_key, organization_id)
);
create index feature_flag_override_organization on feature_flag_override (organization_id);

-- Mails to send. A row is deleted when its mail is sent, and stays for some time if the mail was given up.
create table mail (
  id text primary key,
  kind text not null,
  recipient text not null,
  reply_to_address text,
  reply_to_name text,
  subject text not null,
  body text not null,
  attempts integer not null default 0,
  last_error text,
  created_at timestamptz(3) not null default now(),
  stopped_at timestamptz(3),
  constraint mail_check check ((reply_to_name is null) or (reply_to_address is not null))
);
create index mail_created on mail (created_at);

-- As rate-limiter-flexible reads and writes it. Unlogged: a crash of the database forgets counts of a minute, and each request is cheaper.
create unlogged table rate_limit (
  key character varying(255) primary key,
  points integer not null default 0,
  expire bigint
);

-- One row for each open job stream of a user; the key keeps a sixth out.
create unlogged table job_stream_lease (
  user_id text,
  slot integer check (slot > 0),
  holder text not null,
  expires_at timestamptz(3) not null,
  primary key (user_id, slot)
);
create index job_stream_lease_expires on job_stream_lease (expires_at);

-- The limits of the plans, written by the API at its start from its configuration. Empty while billing is off: then nothing is limited.
create table plan_limit (
  plan text primary key check (plan in ('free', 'pro', 'team')),
  members integer not null check (members >= 0),
  dunning_days integer not null check (dunning_days >= 0)
);

create table stripe_event (
  id text primary key,
  type text not null,
  created_at timestamptz(3) not null default now()
);
create index stripe_event_created on stripe_event (created_at);

-- Problems that an operator must decide about. They are kept after they are resolved, as a record.
create table billing_problem (
  kind text,
  subject text,
  organization_id text,
  stripe_customer_id text,
  stripe_subscription_id text,
  seen_at timestamptz(3) not null default now(),
  resolved_at timestamptz(3),
  primary key (kind, subject)
);

-- Unpaid invoices about which the owners were sent a mail.
create table payment_failure (
  invoice_id text primary key,
  organization_id text not null references organization (id) on delete cascade,
  created_at timestamptz(3) not null default now()
);
create index payment_failure_organization on payment_failure (organization_id);

-- The key is the order in which a search reads: one range for each workspace, model and count of dimensions.
create table vector_block (
  workspace_id text,
  model text,
  dimensions integer,
  document_id text,
  first_index integer,
  organization_id text not null,
  vectors text not null,
  primary key (workspace_id, model, dimensions, document_id, first_index),
  constraint vector_block_document_fkey foreign key (document_id, workspace_id, organization_id) references document (id, workspace_id, organization_id) on delete cascade
);
alter table vector_block alter column vectors set storage external;
create index vector_block_document on vector_block (document_id);

create table workspace_deletion (
  workspace_id text primary key,
  organization_id text not null references organization (id) on delete cascade,
  requested_by text,
  created_at timestamptz(3) not null default now()
);
create index workspace_deletion_organization on workspace_deletion (organization_id);

-- Names this database to the store, whose marker names the deployment that may delete there.
create table deployment (
  one boolean default true primary key check (one),
  id text not null default (gen_random_uuid())::text
);

-- Objects without a document that the sweep has found and not deleted yet.
create table orphaned_object (
  key text primary key
);

create table orphan_sweep_stop (
  one boolean default true primary key check (one),
  checked bigint not null,
  found bigint not null,
  allowed bigint not null default 0,
  stopped_at timestamptz(3) not null default now()
);

-- The platform's limits, written by the API at its start from its configuration. A limit without a row does not exist.
create table auth_limit (
  name text primary key,
  value integer not null check (value > 0)
);

-- Organizations whose first member is not written yet: better-auth does that in a second transaction.
create table organization_without_owner (
  organization_id text primary key references organization (id) on delete cascade,
  user_id text not null,
  created_at timestamptz(3) not null default now()
);
create index organization_without_owner_user on organization_without_owner (user_id);

-- Invitations are counted by address, for which a hash is enough.
create table invitation_mail (
  organization_id text not null references organization (id) on delete cascade,
  address_hash text not null,
  sent_at timestamptz(3) not null default now()
);
create index invitation_mail_address on invitation_mail (address_hash, sent_at);
create index invitation_mail_organization on invitation_mail (organization_id, sent_at);
create index invitation_mail_sent on invitation_mail (sent_at);

create table lexical_document (
  document_id text primary key,
  number bigint generated always as identity,
  organization_id text not null,
  workspace_id text not null,
  chunk_count integer not null,
  term_count integer not null,
  workspace_key bigint not null,
  terms text[] not null,
  constraint lexical_document_document_fkey foreign key (document_id, workspace_id, organization_id) references document (id, workspace_id, organization_id) on delete cascade
);
create unique index lexical_document_number on lexical_document (number);
-- Covers the sums over all documents of a workspace, so that the table is not read.
create index lexical_document_workspace on lexical_document (workspace_id) include (chunk_count, term_count);

-- A small document has nearly one row for each of its words. So keys are short, and the index covers what a search reads.
create table posting (
  workspace_key bigint,
  term text collate "C",
  document_number bigint,
  part integer,
  chunk_count integer not null,
  postings text not null,
  primary key (workspace_key, term, document_number, part) include (chunk_count, postings)
);

create table subscription_cancellation (
  subscription_id text primary key references subscription (id) on delete cascade,
  actor jsonb not null,
  immediately boolean not null,
  requested_at timestamptz(3) not null default now()
);

create table document_index (
  document_id text primary key,
  organization_id text not null,
  workspace_id text not null,
  model text not null,
  dimensions integer not null,
  chunking text not null,
  constraint document_index_document_fkey foreign key (document_id, workspace_id, organization_id) references document (id, workspace_id, organization_id) on delete cascade
);
-- Covers the search for the next workspace that is behind, and for its documents by id.
create index document_index_kind on document_index (workspace_id, document_id) include (model, dimensions, chunking);

create table workspace_index (
  workspace_id text primary key references workspace (id) on delete cascade,
  model text not null,
  dimensions integer not null,
  chunking text not null,
  switched_at timestamptz(3)
);

create table staged_index (
  document_id text primary key,
  organization_id text not null,
  workspace_id text not null,
  model text not null,
  dimensions integer not null,
  chunking text not null,
  texts text[] not null,
  positions jsonb not null,
  vectors bytea not null,
  constraint staged_index_document_fkey foreign key (document_id, workspace_id, organization_id) references document (id, workspace_id, organization_id) on delete cascade
);
alter table staged_index alter column vectors set storage external;
create index staged_index_workspace on staged_index (workspace_id, document_id);

create table late_upload (
  key text primary key,
  organization_id text not null,
  due_at timestamptz(3) not null default (now() + interval '2 hours')
);
create index late_upload_due on late_upload (due_at);

create table recent_mail (
  kind text,
  address_hash text,
  sent integer not null default 1,
  since timestamptz(3) not null default now(),
  primary key (kind, address_hash)
);
create index recent_mail_since on recent_mail (since);

-- The text that the database has of each file of db/triggers, and the version of the service that brought it.
create table database_rule (
  name text primary key,
  hash text not null,
  version text not null,
  applied_at timestamptz(3) not null default now()
);

-- The id of this deployment, which the marker of its store repeats.
insert into deployment default values;
