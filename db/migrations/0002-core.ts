import { type Kysely, sql } from 'kysely';

/** Workspaces, documents, chunks, jobs, the credit ledger, audit entries, the outbox, mails, flags, and what several processes count together. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table workspace (
    id text primary key,
    organization_id text not null references organization (id) on delete cascade,
    team_id text references team (id) on delete set null,
    name text not null,
    slug text not null,
    used_bytes bigint not null default 0 check (used_bytes >= 0),
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now(),
    unique (organization_id, slug)
  )`,
  `create index workspace_team on workspace (team_id) where team_id is not null`,

  `create table document (
    id text primary key,
    organization_id text not null references organization (id) on delete cascade,
    workspace_id text not null references workspace (id) on delete cascade,
    uploaded_by text references "user" (id) on delete set null,
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
    constraint document_tenant unique (id, workspace_id, organization_id)
  )`,
  `create index document_page on document (workspace_id, created_at desc, id desc)`,
  `create index document_organization on document (organization_id)`,
  `create index document_pending on document (created_at) where status = 'pending'`,
  `create index document_uploader on document (uploaded_by)`,

  `create table document_text (
    document_id text primary key references document (id) on delete cascade,
    text text not null
  )`,

  // A chunk refers to its document with the tenant, so that none can name another workspace or organization than its document's.
  `create table chunk (
    id text primary key,
    organization_id text not null,
    workspace_id text not null,
    document_id text not null,
    index integer not null,
    text text not null,
    model text not null,
    embedding real[] not null,
    constraint chunk_document_fkey foreign key (document_id, workspace_id, organization_id)
      references document (id, workspace_id, organization_id) on delete cascade
  )`,
  // Rows of 2 kB would be compressed, or their vectors put elsewhere, at half of what storing costs; a search would fetch each of them from there.
  `alter table chunk set (toast_tuple_target = 8160)`,
  `create index chunk_workspace on chunk (workspace_id, model)`,
  `create unique index chunk_document on chunk (document_id, index)`,
  `create index chunk_organization on chunk (organization_id)`,

  `create table job (
    id text primary key,
    organization_id text not null references organization (id) on delete cascade,
    workspace_id text references workspace (id) on delete set null,
    document_id text references document (id) on delete set null,
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
    created_by text references "user" (id) on delete set null,
    created_at timestamptz(3) not null default now(),
    started_at timestamptz(3),
    finished_at timestamptz(3),
    next_attempt_at timestamptz(3),
    updated_at timestamptz(3) not null default now(),
    swept_at timestamptz(3),
    check (attempts <= max_attempts)
  )`,
  `create index job_page on job (organization_id, created_at desc, id desc)`,
  `create index job_status_page on job (organization_id, status, created_at desc, id desc)`,
  `create index job_workspace_page on job (workspace_id, created_at desc, id desc)`,
  `create index job_document_page on job (document_id, created_at desc, id desc)`,
  `create index job_changed on job (organization_id, updated_at)`,
  `create index job_running on job (started_at) where status = 'running'`,
  `create index job_queued on job (coalesce(swept_at, created_at)) where status = 'queued'`,
  `create index job_finished on job (finished_at) where finished_at is not null`,
  `create index job_failed on job (finished_at) where status = 'failed'`,
  `create index job_former_workspace on job (former_workspace_id) where former_workspace_id is not null`,
  `create index job_creator on job (created_by)`,
  `create index job_retry on job (retry_of) where retry_of is not null`,
  `create unique index job_retry_once_per_run on job (retry_of, replay_run) where replay_run is not null`,

  `create table credit_entry (
    id bigint generated always as identity primary key,
    organization_id text not null references organization (id) on delete cascade,
    key text not null unique,
    amount integer not null check (amount <> 0),
    month date not null,
    job_id text,
    reason text not null,
    created_at timestamptz(3) not null default now()
  )`,
  `create index credit_entry_month on credit_entry (organization_id, month)`,
  `create index credit_entry_job on credit_entry (job_id)`,
  `create table credit_month (
    organization_id text not null references organization (id) on delete cascade,
    month date not null,
    used bigint not null check (used >= 0),
    primary key (organization_id, month)
  )`,
  // Searches that were charged and have not come to their end: the ledger does not say which of its charges are settled.
  `create table open_search (
    id text primary key,
    organization_id text not null references organization (id) on delete cascade,
    month date not null,
    charged_at timestamptz(3) not null default now()
  )`,

  `create table audit_entry (
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
  )`,
  `create index audit_entry_page on audit_entry (organization_id, created_at desc, id desc)`,
  `create index audit_entry_platform_page on audit_entry (created_at desc, id desc)`,
  `create index audit_entry_actor_page on audit_entry (actor_id, created_at desc, id desc)`,
  `create index audit_entry_target_page on audit_entry (target_id, created_at desc, id desc)`,

  `create table outbox (
    id bigint generated always as identity primary key,
    workflow_id text not null,
    intent jsonb not null,
    attempts integer not null default 0,
    last_error text,
    lease_until timestamptz(3),
    created_at timestamptz(3) not null default now()
  )`,
  `create index outbox_workflow on outbox (workflow_id, id)`,

  `create table object_to_delete (
    key text primary key,
    organization_id text not null,
    attempts integer not null default 0,
    last_error text,
    next_attempt_at timestamptz(3) not null default now(),
    created_at timestamptz(3) not null default now()
  )`,
  `create index object_to_delete_due on object_to_delete (next_attempt_at)`,
  `create index object_to_delete_organization on object_to_delete (organization_id)`,

  `create table organization_deletion (
    organization_id text primary key references organization (id) on delete cascade,
    requested_by text,
    created_at timestamptz(3) not null default now()
  )`,

  `create table idempotency_key (
    user_id text not null references "user" (id) on delete cascade,
    operation text not null,
    key text not null,
    request_hash text not null,
    response jsonb,
    created_at timestamptz(3) not null default now(),
    primary key (user_id, operation, key)
  )`,
  `create index idempotency_key_created on idempotency_key (created_at)`,

  `create table feature_flag (
    key text primary key,
    description text not null default '',
    enabled boolean not null default false,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now()
  )`,
  `create table feature_flag_override (
    flag_key text not null references feature_flag (key) on delete cascade,
    organization_id text not null references organization (id) on delete cascade,
    enabled boolean not null,
    primary key (flag_key, organization_id)
  )`,
  `create index feature_flag_override_organization on feature_flag_override (organization_id)`,

  // Mails that wait to be sent. A row goes once its mail is sent; one that stays is a mail that was given up.
  `create table mail (
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
    check (reply_to_name is null or reply_to_address is not null)
  )`,
  `create index mail_created on mail (created_at)`,

  // As rate-limiter-flexible reads and writes it. Unlogged: a crash of the database forgets counts of a minute, and each request is cheaper.
  `create unlogged table rate_limit (
    key varchar(255) primary key,
    points integer not null default 0,
    expire bigint
  )`,

  // One row for each place that a user's job streams take; the key is what keeps a sixth out.
  `create unlogged table job_stream_lease (
    user_id text not null,
    place integer not null check (place > 0),
    holder text not null,
    expires_at timestamptz(3) not null,
    primary key (user_id, place)
  )`,
  `create index job_stream_lease_expires on job_stream_lease (expires_at)`,

  // The dot product of two unit vectors is their cosine similarity. It means nothing for vectors of different length.
  `create function dot_product(a real[], b real[]) returns double precision
     language sql immutable strict parallel safe
     as $$ select sum(x::double precision * y) from unnest(a, b) as pair (x, y) $$`,

  // docs/rules.md, notifications may be lost: they carry ids only.
  `create function notify_job_change() returns trigger language plpgsql as $$
     begin
       perform pg_notify('job_changed', new.organization_id || ' ' || new.id);
       return null;
     end $$`,
  `create trigger job_inserted after insert on job for each row execute function notify_job_change()`,
  `create trigger job_updated after update of status, workspace_id on job for each row
     when (old.status is distinct from new.status or old.workspace_id is distinct from new.workspace_id)
     execute function notify_job_change()`,

  // A stream of a workspace that was deleted tells how its jobs ended. A trigger, since a reference may empty the column, too.
  `create function note_former_workspace() returns trigger language plpgsql as $$
     begin
       new.former_workspace_id := old.workspace_id;
       return new;
     end $$`,
  `create trigger job_left_workspace before update of workspace_id on job for each row
     when (old.workspace_id is not null and new.workspace_id is null)
     execute function note_former_workspace()`,
];
