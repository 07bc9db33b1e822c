import { jobIdOf } from '../../contract/intents/definitions.ts';

/** The fields by which the log lines of a workflow are found: its id, and that of its job if it runs one. */
export function logFieldsOf(workflowId: string): { workflowId: string; jobId?: string } {
  const jobId = jobIdOf(workflowId);
  return jobId === undefined ? { workflowId } : { workflowId, jobId };
}
