import { jobIdOf } from '../workflows/definitions.ts';

/** By what the lines of a workflow are found in the log: its id, and that of its job if it runs one. */
export function logFieldsOf(workflowId: string): { workflowId: string; jobId?: string } {
  const jobId = jobIdOf(workflowId);
  return jobId === undefined ? { workflowId } : { workflowId, jobId };
}
