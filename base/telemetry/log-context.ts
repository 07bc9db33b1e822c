import { AsyncLocalStorage } from 'node:async_hooks';

/** The fields of a log line about its request or its step of a workflow. Ids and names, never contents. */
interface LogFields {
  requestId?: string;
  /** The organization that the request was authorized in. */
  organizationId?: string;
  workflowId?: string;
  /** The job that the workflow runs. */
  jobId?: string;
  activity?: string;
}

const current = new AsyncLocalStorage<LogFields>();

/** Runs work during which every log line has the fields. */
export function withLogFields<T>(fields: LogFields, work: () => T): T {
  return current.run({ ...current.getStore(), ...fields }, work);
}

/** Adds fields to the lines that the innermost {@link withLogFields} writes from now on. Does nothing outside of it. */
export function addLogFields(fields: LogFields): void {
  Object.assign(current.getStore() ?? {}, fields);
}

/** The fields of a line that is written now, as an object of its own. */
export function readLogFields(): LogFields {
  return { ...current.getStore() };
}
