import type { ColumnType, Generated } from 'kysely';
import type { KeyPermission } from '../contract/access.ts';
import type { DocumentStatus } from '../contract/documents.ts';
import type { AutomaticJobKind, PlanLimits, PlanName } from '../contract/fields.ts';
import type { Intent } from '../contract/intents/definitions.ts';
import type { MailKind, ReplayInput } from '../contract/intents/inputs.ts';
import type { JobKind, JobStatus } from '../contract/jobs.ts';
import type { WebhookDeliveryEvent, WebhookEventName } from '../contract/webhook-events.ts';
import type { WebhookDeliveryStatus, WebhookSignature } from '../contract/webhooks.ts';
import type { OnDuplicate, RetentionKind } from '../contract/workspaces.ts';
import type { Actor } from './actor.ts';
import type { AuthTables } from './auth-schema.ts';

/** A `timestamptz(3)`: read as a Date, written as a Date or an SQL expression. */
type Timestamp = ColumnType<Date, Date | undefined, Date>;
type NullableTimestamp = ColumnType<Date | null, Date | null | undefined, Date | null>;
/** A `jsonb`: read as the value, written as JSON text. */
type Json<T> = ColumnType<T, string, string>;
type NullableJson<T> = ColumnType<T | null, string | null | undefined, string | null>;

export type { DocumentStatus, JobKind, JobStatus, MailKind, PlanName };

export interface WorkspaceTable {
  id: string;
  organization_id: string;
  team_id: string | null;
  name: string;
  slug: string;
  /** Sum of `size_bytes` of its documents (docs/rules.md, counters are kept). */
  used_bytes: Generated<number>;
  /** Jobs that each completed upload gets. */
  auto_process: ColumnType<AutomaticJobKind[], AutomaticJobKind[] | undefined, AutomaticJobKind[]>;
  /** The credits that it may use in a month; null for no budget. */
  credit_budget: Generated<number | null>;
  /** What providers may cost it in a month, in millionths of the currency of the prices; null for no budget. */
  cost_budget_micros: Generated<number | null>;
  /** What becomes of an upload whose content the workspace has already. */
  on_duplicate: Generated<OnDuplicate>;
  /** For how many days it keeps what. */
  retention: ColumnType<Retention, string | undefined, string>;
  created_at: Timestamp;
  updated_at: Timestamp;
}

/** Days by what is kept; what is absent has no end of its own. */
export type Retention = Partial<Record<RetentionKind, number>>;

export interface DocumentTable {
  id: string;
  organization_id: string;
  workspace_id: string;
  uploaded_by: string | null;
  name: string;
  content_type: string;
  /** The declared charset of a text document; null if none was declared. */
  charset: string | null;
  size_bytes: number;
  status: DocumentStatus;
  object_key: string;
  /** Of the stored bytes, in hex; null until the service has read them. */
  sha256: Generated<string | null>;
  /** What the upload said that it would be; null if it said nothing. */
  promised_sha256: Generated<string | null>;
  /** How many contents it has had, with this one. */
  version: Generated<number>;
  /** The document whose content this upload replaces once it is read; null for a document of its own. */
  replaces: Generated<string | null>;
  extracted_characters: number | null;
  extracted_pages: number | null;
  extracted_truncated: boolean | null;
  /** How many pages text recognition has read; null if none. */
  extracted_ocr_pages: number | null;
  /** The confidence of text recognition for each page, in percent; null for pages without a result. Null if it read none. */
  extracted_ocr_confidence: (number | null)[] | null;
  /** What extraction left out or had to guess; null if nothing. */
  extracted_notices: NullableJson<ExtractionNotice[]>;
  extracted_at: NullableTimestamp;
  indexed_at: NullableTimestamp;
  chunk_count: number | null;
  tags: Generated<string[]>;
  /** A `json`, which keeps the text that it is written as. */
  metadata: ColumnType<Record<string, unknown>, string | undefined, string>;
  /** Keys of the tags and of the fields of the metadata, by which an index finds them (`labelKeysOf`); null if there are none. */
  labels: string[] | null;
  /** The size of both in a response, in bytes of JSON. */
  label_bytes: Generated<number>;
  created_at: Timestamp;
  updated_at: Timestamp;
}

/** A short code that stays, and a sentence for people. */
export interface ExtractionNotice {
  code: string;
  text: string;
}

interface DocumentVersionTable {
  document_id: string;
  number: number;
  sha256: string | null;
  size_bytes: number;
  created_by: string | null;
  created_at: Date;
  /** What had its bytes, which are deleted once the version was replaced: it names the upload. Null in older rows. */
  object_key: string | null;
}

interface DocumentTextTable {
  document_id: string;
  text: string;
  outline: Json<Outline>;
}

/** The beginnings of the parts of an extracted text, in characters (code points) of the text. */
export interface Outline {
  /** The length of the text. */
  characters: number;
  /** The beginning of each page; null for kinds without pages. Fewer pages than the document has, if its text was cut. */
  pages: number[] | null;
  /** Where the last page ends, if the texts of files within the document stand behind the pages. */
  pagesEnd?: number | undefined;
  headings: { level: number; start: number; title: string }[];
  /** Recognized lines: where each begins and ends, and its box on the page: left, top, width, height, in ten-thousandths of the page. */
  lines?: [start: number, end: number, left: number, top: number, width: number, height: number][] | undefined;
}

interface ChunkTable {
  id: string;
  organization_id: string;
  workspace_id: string;
  document_id: string;
  index: number;
  text: string;
  model: string;
  /** Unit length, so that the dot product is the cosine similarity. Written as numbers, or as the result of `toRealArray`. */
  embedding: ColumnType<number[], number[] | Buffer>;
  /**
   * The position of the chunk in its document's text, in characters (code points). This and the following are null if the chunk was stored
   * without positions.
   */
  text_start: number | null;
  text_end: number | null;
  /** The page on which the chunk begins, from 1; null also for kinds without pages. */
  page: number | null;
  /** The beginning of each further page, in characters of the chunk. */
  page_breaks: number[] | null;
  /** The headings above the chunk, the outermost first. */
  headings: string[] | null;
}

/** The vectors of consecutive chunks of a document, beginning with the chunk `first_index`. */
export interface VectorBlockTable {
  workspace_id: string;
  model: string;
  dimensions: number;
  document_id: string;
  first_index: number;
  organization_id: string;
  /** One after another, each as `storeVectorBlocks` writes it, in base64. */
  vectors: string;
}

/** A document's contribution to the counts of its workspace, and its terms, by which its postings are deleted. */
interface LexicalDocumentTable {
  document_id: string;
  /** A short number, new for each time the document is indexed. */
  number: Generated<number>;
  organization_id: string;
  workspace_id: string;
  chunk_count: number;
  /** The number of terms in all its chunks, with repetitions. */
  term_count: number;
  workspace_key: string;
  terms: string[];
}

/** Postings of a term in a document. */
interface PostingTable {
  /** From `workspaceKeyOf`. */
  workspace_key: string;
  term: string;
  document_number: number;
  /** The number of the row, from 0, since the entries of an index are limited in size. */
  part: number;
  /** The number of chunks in these postings. */
  chunk_count: number;
  /** Three letters for each chunk (`domain/search/postings.ts`). */
  postings: string;
}

/** The index of a document: how its text was cut, and the model that embedded the chunks. */
interface DocumentIndexTable {
  document_id: string;
  organization_id: string;
  workspace_id: string;
  model: string;
  dimensions: number;
  chunking: string;
}

/** The index that a workspace is searched with by meaning. Its documents have the same one, until all of them are switched at once. */
interface WorkspaceIndexTable {
  workspace_id: string;
  model: string;
  dimensions: number;
  chunking: string;
  /** When the workspace was last switched; null if never. */
  switched_at: NullableTimestamp;
}

/** The chunks of a document for another index than that of its workspace, until the workspace is switched. */
interface StagedIndexTable {
  document_id: string;
  organization_id: string;
  workspace_id: string;
  model: string;
  dimensions: number;
  chunking: string;
  /** The position of each chunk, or null: `ChunkPosition` of the domain. */
  positions: ColumnType<object[], string, string>;
  texts: string[];
  /** The 32-bit floats of all chunks, one after another, low byte first. */
  vectors: Buffer;
}

export interface JobTable {
  id: string;
  organization_id: string;
  workspace_id: string | null;
  /** The workspace of the job until it was deleted. Maintained by the database. */
  former_workspace_id: ColumnType<string | null, never, never>;
  document_id: string | null;
  kind: JobKind;
  status: Generated<JobStatus>;
  input: Json<Record<string, unknown>>;
  /** The failed job that this one retries. */
  retry_of: string | null;
  /** The replay that made this job; one replay retries an original once. */
  replay_run: string | null;
  result: NullableJson<Record<string, unknown>>;
  /** The results of the stages that are done, by their names, of a job that has several. */
  stages: NullableJson<Record<string, unknown>>;
  /** The sizes of both as JSON, maintained by the database. Null in older rows, and without a result. */
  input_bytes: ColumnType<number | null, never, never>;
  result_bytes: ColumnType<number | null, never, never>;
  error_code: string | null;
  error_message: string | null;
  /** How often a worker claimed the job (docs/rules.md, fencing). */
  attempts: Generated<number>;
  max_attempts: number;
  /** The workflow run and attempt that holds the running job. */
  claimed_by: string | null;
  credits: number;
  /** First day of the month that the charge counts against; its refund carries the same. */
  credit_month: ColumnType<string, string, never>;
  created_by: string | null;
  created_at: Timestamp;
  started_at: NullableTimestamp;
  finished_at: NullableTimestamp;
  next_attempt_at: NullableTimestamp;
  updated_at: Timestamp;
  /** When the sweep last started the workflow of the queued job. */
  swept_at: NullableTimestamp;
  /** What the job was last found to need while it was down, or `suspension`; null after an attempt that failed otherwise. */
  waits_for: WaitCause | null;
  /** Since when the queued job waits for that, without an attempt; null while it does not. */
  waiting_since: NullableTimestamp;
}

/** What jobs need outside of this service: the AI service, and behind it the provider of a role. */
export type OutagePart = 'ai-service' | 'chat' | 'embed' | 'vision';

/** What a queued job may wait for: a part, or the end of the suspension of its organization. */
export type WaitCause = OutagePart | 'suspension';

/** A part that is known to be down. Without a row it is not. */
interface ProviderOutageTable {
  part: OutagePart;
  /** Why its last call failed: `unreachable`, `failing`, `limited`, `quota` or `refused`. */
  cause: string;
  since: Timestamp;
  /** When the next attempt may begin as a probe. */
  next_probe_at: Date;
  /** How long the probe that runs may take before another one may begin; null while none runs. */
  probing_until: NullableTimestamp;
  failed_probes: Generated<number>;
  /** How many attempts have succeeded since the last probe that failed. */
  successes: Generated<number>;
  /** How many attempts may begin besides probes. */
  admits: Generated<number>;
  /** When the next job that has to wait looks again: one after the other. */
  next_slot_at: Timestamp;
}

/** What a provider did for one request to the AI service. */
interface ProviderCallTable {
  id: Generated<number>;
  /** Null for what an operator did. */
  organization_id: string | null;
  /** This and the following ids stay when what they name is deleted. */
  workspace_id: string | null;
  document_id: string | null;
  api_key_id: string | null;
  purpose: 'job' | 'search' | 'answer' | 'reindex' | 'other';
  /** The job, the search or the answer. */
  purpose_id: string | null;
  attempt: number | null;
  role: 'chat' | 'embed' | 'vision' | 'rerank';
  /** Null while it is unknown. */
  model: string | null;
  calls: Generated<number>;
  /** Those of the calls whose tokens are unknown. */
  unreported_calls: Generated<number>;
  /** Tokens; the input includes the cached ones. */
  input_tokens: Generated<number>;
  cached_tokens: Generated<number>;
  output_tokens: Generated<number>;
  created_at: Timestamp;
}

interface CreditEntryTable {
  id: Generated<number>;
  organization_id: string;
  /** Unique: `job:<id>:charge`, `job:<id>:refund`, and the same for a search and an answer. */
  key: string;
  /** Credits: positive for a charge, negative for a refund. */
  amount: number;
  month: ColumnType<string, string, never>;
  job_id: string | null;
  reason: string;
  /** The workspace of the charge. For a refund, a trigger copies this and the next column from its charge. */
  workspace_id: string | null;
  /** The user or API key that caused the charge. */
  actor_id: string | null;
  created_at: Timestamp;
}

interface CreditMonthTable {
  organization_id: string;
  month: ColumnType<string, string, never>;
  used: number;
}

/** A search or an answer that was charged and has not ended yet. */
interface OpenChargeTable {
  id: string;
  organization_id: string;
  /** First day of the month that the charge counts against; its refund carries the same. */
  month: ColumnType<string, string, never>;
  charged_at: Timestamp;
}

export interface AuditEntryTable {
  id: string;
  /** No foreign key, since entries outlive the organization. Null for entries about users, sessions and flags. */
  organization_id: string | null;
  actor_id: string | null;
  actor_email: string | null;
  impersonated_by: string | null;
  action: string;
  target_type: string | null;
  target_id: string | null;
  metadata: NullableJson<Record<string, unknown>>;
  created_at: Timestamp;
  /** Its number in the organization; null until it is read in that order. */
  sequence: number | null;
}

/** What an organization must keep. */
export interface LegalHoldTable {
  organization_id: string;
  /** Null for the whole organization. */
  workspace_id: string | null;
  reason: string;
  since: Timestamp;
}

/** An organization that an operator has suspended. */
interface OrganizationSuspensionTable {
  organization_id: string;
  /** What its members are told. */
  reason: string;
  since: Timestamp;
}

/** What an operator has given an organization by hand. */
export interface PlanOverrideTable {
  organization_id: string;
  /** Null for the plan that is paid for. */
  plan: PlanName | null;
  /** In place of those of the plan. */
  limits: ColumnType<Partial<PlanLimits>, string, string>;
  /** It does not count any more from then on. */
  until: ColumnType<Date, Date, Date>;
  reason: string;
}

/** The last number of an organization's audit entries that was given. Its row is the lock of giving them. */
interface AuditSequenceTable {
  organization_id: string;
  last: Generated<number>;
}

interface OutboxTable {
  id: Generated<number>;
  workflow_id: string;
  intent: Json<Intent>;
  attempts: Generated<number>;
  last_error: string | null;
  lease_until: NullableTimestamp;
  /** The trace context of the writer, in the format of W3C's header; null if there was no trace. */
  traceparent: string | null;
  created_at: Timestamp;
}

interface ObjectToDeleteTable {
  key: string;
  organization_id: string;
  attempts: Generated<number>;
  last_error: string | null;
  next_attempt_at: Timestamp;
  created_at: Timestamp;
}

/** Keys of deleted documents, for as long as a link may still store their object. */
interface LateUploadTable {
  key: string;
  organization_id: string;
  due_at: Timestamp;
}

interface OrganizationDeletionTable {
  organization_id: string;
  requested_by: string | null;
  created_at: Timestamp;
}

/** An organization whose first member is not written yet, with the user who creates it. */
interface OrganizationWithoutOwnerTable {
  organization_id: string;
  user_id: string;
  created_at: Timestamp;
}

/** One row: the name by which a store identifies its deployment, its latest backup, and what an operator has set for all processes. */
interface DeploymentTable {
  id: Generated<string>;
  /** As of when the latest backup is. */
  backed_up_at: Timestamp | null;
  /** Why it takes no writes; null while it does. */
  read_only: string | null;
  /** The level of the log that an operator has set, until its end. */
  log_level: string | null;
  log_level_until: Timestamp | null;
}

/** Objects without a document, until the sweep has ended or an operator has decided. */
interface OrphanedObjectTable {
  key: string;
}

/** One row while the sweep of orphaned objects has stopped; `allowed` is how many an operator permits it to delete. */
export interface OrphanSweepStopTable {
  one: Generated<boolean>;
  checked: number;
  found: number;
  allowed: Generated<number>;
  stopped_at: Timestamp;
}

/** A deleted workspace whose jobs, documents and objects are still being deleted. */
interface WorkspaceDeletionTable {
  workspace_id: string;
  organization_id: string;
  requested_by: string | null;
  created_at: Timestamp;
}

/** Secrets are kept as hashes only. Times of an end are compared with the database's clock. */
export interface ApiKeyTable {
  id: string;
  organization_id: string;
  /** The only workspace that the key reaches; null for all. */
  workspace_id: string | null;
  /** The user who made or last rotated it, whose role bounds it; null if the user is gone. */
  responsible_id: string | null;
  name: string;
  permissions: KeyPermission[];
  requests_per_minute: number;
  /** The credits that it may use in a month; null for no budget. */
  credit_budget: Generated<number | null>;
  /** How long each secret lives; null for ever. */
  lifetime_days: number | null;
  /** How the secret begins. */
  prefix: string;
  hash: string;
  expires_at: NullableTimestamp;
  /** The secret from before the last rotation, until its overlap ends. */
  previous_hash: string | null;
  previous_expires_at: NullableTimestamp;
  /** The user who was responsible for the previous secret, whose role bounds it; null if the user is gone. */
  previous_responsible_id: string | null;
  /** Rounded down to the minute. */
  last_used_at: NullableTimestamp;
  created_at: Timestamp;
}

interface IdempotencyKeyTable {
  /** A user or an API key. */
  user_id: string;
  operation: string;
  key: string;
  request_hash: string;
  response: NullableJson<unknown>;
  created_at: Timestamp;
}

export interface FeatureFlagTable {
  key: string;
  description: string;
  enabled: boolean;
  created_at: Timestamp;
  updated_at: Timestamp;
}

interface FeatureFlagOverrideTable {
  flag_key: string;
  organization_id: string;
  enabled: boolean;
}

export interface MailTable {
  id: string;
  kind: MailKind;
  recipient: string;
  reply_to_address: string | null;
  reply_to_name: string | null;
  subject: string;
  body: string;
  attempts: Generated<number>;
  last_error: string | null;
  /** When sending stopped, because its workflow ended or a restore holds it. Null while it is being sent. */
  stopped_at: NullableTimestamp;
  created_at: Timestamp;
}

/** How many mails of a kind an address got since the window of its limit began. */
interface RecentMailTable {
  kind: MailKind;
  address_hash: string;
  sent: Generated<number>;
  since: Timestamp;
}

interface JobStreamLeaseTable {
  user_id: string;
  /** The number of the lease: 1 to the number of streams that the user may have open. */
  slot: number;
  /** The stream that holds the lease. */
  holder: string;
  expires_at: Date;
}

/** A decision that an operator must make about a subscription or a customer at the payment provider. */
interface BillingProblemTable {
  kind: BillingProblemKind;
  /** The payment provider's id of the affected object. */
  subject: string;
  /** No foreign key: the organization may be gone. */
  organization_id: string | null;
  stripe_customer_id: string | null;
  stripe_subscription_id: string | null;
  seen_at: Timestamp;
  resolved_at: NullableTimestamp;
}

export type BillingProblemKind =
  | 'unknown-customer'
  | 'subscription-missing'
  | 'several-subscriptions'
  | 'customer-left'
  | 'customer-missing'
  | 'customer-deleted'
  | 'ended-with-organization';

/** A cancellation that a platform admin requested, until Stripe confirms it. */
interface SubscriptionCancellationTable {
  subscription_id: string;
  actor: Json<Actor>;
  /** At once, instead of at the end of the paid period. */
  immediately: boolean;
  requested_at: Timestamp;
}

interface PaymentFailureTable {
  invoice_id: string;
  organization_id: string;
  created_at: Timestamp;
}

/** A replay that an operator has asked for. */
interface JobReplayTable {
  /** The id of its workflow. */
  id: string;
  input: Json<ReplayInput>;
  /** The first run of the workflow; null until it has begun. */
  run: string | null;
  created_at: Timestamp;
}

/** There is a row while webhooks are on in this deployment. */
interface WebhookSwitchTable {
  one: Generated<boolean>;
}

export interface WebhookEndpointTable {
  id: string;
  organization_id: string;
  url: string;
  description: Generated<string>;
  events: WebhookEventName[];
  enabled: Generated<boolean>;
  /** Why the service disabled the endpoint: it responded with 410, or failed for days. Null if a member disabled it, or it is enabled. */
  disabled_reason: 'gone' | 'failing' | null;
  /** Since when every delivery has failed; null if the last one did not. */
  failing_since: NullableTimestamp;
  signature: WebhookSignature;
  /** `whsec_…`; for `v1a` the private key, `whsk_…`. */
  secret: string;
  /** `whpk_…`, only for `v1a`. */
  public_key: string | null;
  /** The previous secret, which signs, too, until its time is over. */
  previous_secret: string | null;
  previous_secret_until: NullableTimestamp;
  created_at: Timestamp;
  updated_at: Timestamp;
}

export interface WebhookDeliveryTable {
  id: string;
  organization_id: string;
  endpoint_id: string;
  /** The id of the event, the same for every endpoint and every attempt. */
  event_id: string;
  event: WebhookDeliveryEvent;
  data: Json<Record<string, unknown>>;
  status: Generated<WebhookDeliveryStatus>;
  /** How many attempts were made since the delivery was last requested. */
  tries: Generated<number>;
  /** The last attempts, the newest last. */
  attempts: ColumnType<WebhookAttempt[], string | undefined, string>;
  /** Where the last attempt went. */
  url: string | null;
  response_status: number | null;
  /** The beginning of the last response. */
  response_body: string | null;
  error: string | null;
  next_attempt_at: NullableTimestamp;
  /** It has no workflow: it waits until its endpoint takes others (domain/webhooks/held-deliveries.ts). */
  held: Generated<boolean>;
  finished_at: NullableTimestamp;
  created_at: Timestamp;
}

/** One request to a receiver. `status` is null if there was no response; `error` is null if it was accepted. */
export interface WebhookAttempt {
  at: string;
  durationMs: number;
  status: number | null;
  error: string | null;
}

/** Every table that queries may name. better-auth's tables keep its camelCase columns. */
export interface Database extends AuthTables {
  workspace: WorkspaceTable;
  document: DocumentTable;
  document_text: DocumentTextTable;
  document_version: DocumentVersionTable;
  chunk: ChunkTable;
  vector_block: VectorBlockTable;
  lexical_document: LexicalDocumentTable;
  posting: PostingTable;
  document_index: DocumentIndexTable;
  workspace_index: WorkspaceIndexTable;
  staged_index: StagedIndexTable;
  job: JobTable;
  provider_outage: ProviderOutageTable;
  credit_entry: CreditEntryTable;
  provider_call: ProviderCallTable;
  credit_month: CreditMonthTable;
  open_search: OpenChargeTable;
  open_answer: OpenChargeTable;
  audit_entry: AuditEntryTable;
  audit_sequence: AuditSequenceTable;
  outbox: OutboxTable;
  object_to_delete: ObjectToDeleteTable;
  late_upload: LateUploadTable;
  organization_deletion: OrganizationDeletionTable;
  organization_suspension: OrganizationSuspensionTable;
  legal_hold: LegalHoldTable;
  plan_override: PlanOverrideTable;
  organization_without_owner: OrganizationWithoutOwnerTable;
  workspace_deletion: WorkspaceDeletionTable;
  deployment: DeploymentTable;
  orphaned_object: OrphanedObjectTable;
  orphan_sweep_stop: OrphanSweepStopTable;
  api_key: ApiKeyTable;
  idempotency_key: IdempotencyKeyTable;
  feature_flag: FeatureFlagTable;
  feature_flag_override: FeatureFlagOverrideTable;
  mail: MailTable;
  recent_mail: RecentMailTable;
  job_stream_lease: JobStreamLeaseTable;
  billing_problem: BillingProblemTable;
  job_replay: JobReplayTable;
  webhook_switch: WebhookSwitchTable;
  webhook_endpoint: WebhookEndpointTable;
  webhook_delivery: WebhookDeliveryTable;
  payment_failure: PaymentFailureTable;
  subscription_cancellation: SubscriptionCancellationTable;
}
