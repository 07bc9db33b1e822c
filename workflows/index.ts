export { deleteObjects } from './delete-objects.ts';
export { deleteOrganization } from './delete-organization.ts';
export { housekeeping } from './housekeeping.ts';
export { replayFailedJobs } from './replay-failed-jobs.ts';
export { runJob } from './run-job.ts';
export { sendMail } from './send-mail.ts';
export { sweepJobs } from './sweep-jobs.ts';
export { upload } from './upload.ts';
