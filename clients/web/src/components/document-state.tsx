import type { Document } from '@sheaf/client';
import { t } from '../text.ts';
import { StateMark } from './state-mark.tsx';

/** How far a document has come. */
export function DocumentState({ document: { status, extracted, indexedAt, failedJob } }: { document: Document }) {
  const states = t.documents.states;
  if (status === 'pending') return <StateMark tone="busy">{states.pending}</StateMark>;
  if (failedJob) return <StateMark tone="bad">{states.failed}</StateMark>;
  if (indexedAt) return <StateMark tone="good">{states.searchable}</StateMark>;
  return <StateMark tone="quiet">{extracted ? states.read : states.stored}</StateMark>;
}
