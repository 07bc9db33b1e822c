/** The id of the workflow that carries a job: one for each job, so that a second start meets the first. */
export function jobWorkflowId(jobId: string): string {
  return `job-${jobId}`;
}
