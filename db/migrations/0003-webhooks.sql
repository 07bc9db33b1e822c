-- Endpoints of organizations that are told of events, and what was sent to them. db/triggers/webhooks.sql writes the deliveries.

-- What the API writes at its start from its configuration: without the row nothing is written for webhooks.
create table webhook_switch (
  one boolean default true primary key check (one)
);

create table webhook_endpoint (
  id text primary key,
  organization_id text not null references organization (id) on delete cascade,
  url text not null,
  description text not null default '',
  events text[] not null,
  enabled boolean not null default true,
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  failing_since timestamptz(3),
  signature text not null check (signature in ('v1', 'v1a')),
  secret text not null,
  public_key text,
  previous_secret text,
  previous_secret_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index webhook_endpoint_organization on webhook_endpoint (organization_id);

-- No key refers to the endpoint: its deliveries, which may be many, outlive it until they are thirty days old.
create table webhook_delivery (
  id text primary key,
  organization_id text not null references organization (id) on delete cascade,
  endpoint_id text not null,
  event_id text not null,
  event text not null,
  data jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  tries integer not null default 0,
  attempts jsonb not null default '[]',
  url text,
  response_status integer,
  response_body text,
  error text,
  next_attempt_at timestamptz(3),
  finished_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint webhook_delivery_once unique (endpoint_id, event_id)
);
create index webhook_delivery_created on webhook_delivery (created_at);
create index webhook_delivery_endpoint_page on webhook_delivery (endpoint_id, created_at desc, id desc);
create index webhook_delivery_page on webhook_delivery (organization_id, created_at desc, id desc);
create index webhook_delivery_status_page on webhook_delivery (organization_id, status, created_at desc, id desc);
