export { deleteObjects } from './delete-objects.ts';
export { runJob } from './run-job.ts';
export { sweepJobs } from './sweep-jobs.ts';
export { upload } from './upload.ts';
