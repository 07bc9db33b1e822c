import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { testTemporal } from './stack.ts';

/** A namespace of one test file, in the Temporal server of the run. */
export interface TestNamespace {
  address: string;
  namespace: string;
  client: Client;
  close(): Promise<void>;
}

/** Registers a namespace, so that workflows, task queues and schedules of other test files are out of sight. */
export async function createTestNamespace(): Promise<TestNamespace> {
  const { address } = await testTemporal();
  const namespace = `test-${randomUUID()}`;
  const connection = await Connection.connect({ address });
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 24 * 60 * 60 } as never,
  });
  return { address, namespace, client: new Client({ connection, namespace }), close: () => connection.close() };
}
