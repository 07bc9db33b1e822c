import type { Intent } from '../contract/intents/definitions.ts';

/** An intent as the table holds it. */
export interface OutboxMessage {
  id: number;
  intent: Intent;
  /** The trace context of the writer. */
  traceparent: string | null;
}

/** Sends committed intents to Temporal. Never waits and never throws: an intent that fails stays for the relay. */
export type Dispatch = (messages: OutboxMessage[]) => void;
