import { t } from '../text.ts';
import type { Endpoint } from '../webhook-queries.ts';
import { StateMark } from './state-mark.tsx';

/** How an endpoint is doing. */
export function EndpointState({ endpoint: { enabled, disabledReason, failingSince } }: { endpoint: Endpoint }) {
  const states = t.webhooks.states;
  if (!enabled) return <StateMark tone={disabledReason ? 'bad' : 'quiet'}>{states[disabledReason ?? 'disabled']}</StateMark>;
  return failingSince ? <StateMark tone="bad">{states.failing}</StateMark> : <StateMark tone="good">{states.enabled}</StateMark>;
}
