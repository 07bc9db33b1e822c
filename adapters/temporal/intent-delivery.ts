import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { continueTrace, inSpan, type SpanAttributes } from '../../base/telemetry/spans.ts';
import type { Intent } from '../../contract/intents/definitions.ts';
import type { Db } from '../../db/connect.ts';
import type { OutboxMessage } from '../../db/outbox-message.ts';
import { logFieldsOf } from './log-fields.ts';
import { type StartSettings, startOptions } from './start-options.ts';

/** Sends intents to Temporal, and deletes their rows. */
export class IntentDelivery {
  readonly #db: Db;
  readonly #client: Client;
  readonly #settings: StartSettings;
  readonly #delivered: number[] = [];
  #flushing: Promise<void> | undefined;

  constructor(db: Db, client: Client, settings: StartSettings) {
    this.#db = db;
    this.#client = client;
    this.#settings = settings;
  }

  /**
   * Throws if Temporal does not take the intent within `deadlineMs`. With the client of a worker in this process (`near`), the first task
   * of a workflow comes with the response to its start instead of through a queue.
   */
  async deliver({ id, intent, traceparent }: OutboxMessage, deadlineMs: number, near?: Client): Promise<void> {
    const client = near ?? this.#client;
    const send = () => client.withDeadline(Date.now() + deadlineMs, () => this.#send(client, intent, near !== undefined));
    await continueTrace(traceparent, () => inSpan(spanNameOf(intent), { kind: 'producer', attributes: attributesOf(intent) }, send));
    await this.remove(id);
  }

  /** Deletes the row of an intent. One statement deletes all rows that are removed at the same time. */
  remove(id: number): Promise<void> {
    this.#delivered.push(id);
    this.#flushing ??= this.#flush();
    return this.#flushing;
  }

  async #send({ workflow }: Client, intent: Intent, requestEagerStart: boolean): Promise<void> {
    if (intent.operation === 'signal') {
      await workflow.getHandle(intent.workflowId).signal(intent.signal);
      return;
    }
    const options = startOptions(intent, this.#settings);
    if (intent.signal === undefined) await workflow.start(intent.workflow, { ...options, requestEagerStart }).catch(orIsOver);
    else await workflow.signalWithStart(intent.workflow, { ...options, signal: intent.signal, signalArgs: [] });
  }

  async #flush(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    const ids = this.#delivered.splice(0);
    this.#flushing = undefined;
    await this.#db.deleteFrom('outbox').where('id', 'in', ids).execute();
  }
}

/** Ignores a start that is refused because the workflow has finished: there is nothing left to start. */
function orIsOver(error: unknown): void {
  if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
}

function spanNameOf(intent: Intent): string {
  return intent.operation === 'signal' ? `SignalWorkflow:${intent.signal}` : `StartWorkflow:${intent.workflow}`;
}

function attributesOf({ workflowId }: Intent): SpanAttributes {
  const { jobId } = logFieldsOf(workflowId);
  return { 'sheaf.workflow_id': workflowId, 'sheaf.job_id': jobId };
}
