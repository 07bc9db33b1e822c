import type { ProviderUsage } from '../../contract/ai-service/usage.ts';

/** What a call is made for, beside its organization. */
export interface CallOwner {
  purpose: 'job' | 'search' | 'answer' | 'reindex';
  /** The job, the search or the answer. */
  purposeId?: string | undefined;
  /** The attempt of the job. */
  attempt?: number | undefined;
  workspaceId?: string | null | undefined;
  documentId?: string | null | undefined;
  /** The user or the API key that wants it. */
  actorId?: string | null | undefined;
}

/** A call that a provider may serve. `organizationId` is null for what an operator does. */
export interface RecordedCall extends Partial<CallOwner> {
  organizationId: string | null;
  role: ProviderUsage['role'];
}

/** Records what providers did, and for whom. */
export interface CallRecord {
  /** Notes a call before it is made, and returns an id. Without {@link end} it stays one whose use is unknown. */
  begin(call: RecordedCall): Promise<number>;
  /** Stores what the provider did; null: nothing. `begun` is undefined for a call that was not noted. Never throws. */
  end(begun: number | undefined, call: RecordedCall, used: ProviderUsage | null): Promise<void>;
}
