import type { Document, JobEvent } from '@sheaf/client';
import { t } from '../text.ts';
import { StateMark } from './state-mark.tsx';

/** How far a document has come; `job` is the last one that is under way. */
export function DocumentState({
  document: { status, extracted, indexedAt, chunkCount, failedJob },
  job,
}: {
  document: Document;
  job?: JobEvent | undefined;
}) {
  const states = t.documents.states;
  if (status === 'pending') return <StateMark tone="busy">{states.pending}</StateMark>;
  if (job && !indexedAt) return <StateMark tone="busy">{job.status === 'queued' ? states.queued : states.running}</StateMark>;
  if (failedJob) return <StateMark tone="bad">{states.failed}</StateMark>;
  if (chunkCount === 0) return <StateMark tone="quiet">{states.noText}</StateMark>;
  if (indexedAt) return <StateMark tone="good">{states.searchable}</StateMark>;
  return <StateMark tone="quiet">{extracted ? states.read : states.stored}</StateMark>;
}
