// A bare Temporal worker with the settings of this project's worker: the same slots, one poller for activities.
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';

const [address = '', concurrency = '2'] = process.argv.slice(2);
const connection = await NativeConnection.connect({ address });
const workflowBundle = await bundleWorkflowCode({ workflowsPath: fileURLToPath(new URL('./bare-workflows.ts', import.meta.url)) });
const workflows = await Worker.create({ connection, taskQueue: 'bare', workflowBundle });
const activities = await Worker.create({
  connection,
  taskQueue: 'bare-activities',
  activities: { nothing: async () => {} },
  activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 1 },
  tuner: {
    activityTaskSlotSupplier: { type: 'fixed-size', numSlots: Number(concurrency) },
    workflowTaskSlotSupplier: { type: 'fixed-size', numSlots: 2 },
    localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
    nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
  },
});
process.once('SIGTERM', () => process.exit(0));
console.log('bare worker running');
await Promise.all([workflows.run(), activities.run()]);
