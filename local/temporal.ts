import { connect } from 'node:net';
import { Connection } from '@temporalio/client';
import { msToTs, optionalTsToMs } from '@temporalio/common/lib/time.js';
import { rotate } from './log-files.ts';
import type { RunningProcess, Supervisor } from './supervise.ts';
import { findTemporalCli } from './temporal-cli.ts';

const host = '127.0.0.1';
const namespace = 'default';
const retentionMs = 30 * 24 * 3600 * 1000;

/**
 * What task queues need to be fair between tenants: each of their partitions is fair by itself only, and hands tasks of the first five seconds
 * to the others in no fair order, so tasks are written to one. All are still read: an earlier release wrote to them.
 */
const fairness = ['matching.useNewMatcher=true', 'matching.enableFairness=true', 'matching.numTaskqueueWritePartitions=1'];

export interface TemporalOptions {
  port: number;
  /** The port of the web UI; without one there is no UI. */
  uiPort?: number;
  /** Where workflows are kept; in memory when absent. */
  databaseFile?: string;
  logFile: string;
  /** Where the program is kept when the user's cache cannot be written. */
  otherCacheDir: string;
  /** Called when something takes longer than usual. */
  note?: (message: string) => void;
}

/**
 * Starts Temporal's development server on 127.0.0.1, and waits until the namespace `default` answers, keeps finished workflows for 30 days and
 * takes search attributes. Brings the program to this machine first when it is not there. Throws ProcessError when it cannot start.
 */
export async function startTemporal(supervisor: Supervisor, options: TemporalOptions): Promise<RunningProcess> {
  const fetchLog = options.logFile.replace(/(\.log)?$/, '-cli.log');
  rotate(fetchLog);
  const command = await findTemporalCli({
    supervisor,
    logFile: fetchLog,
    otherCacheDir: options.otherCacheDir,
    note: options.note ?? (() => undefined),
  });
  const running = supervisor.run({ name: 'Temporal', command, args: serverArguments(options), logFile: options.logFile, graceMs: 5000 });
  try {
    await supervisor.waitUntilReady(running, () => isReady(options.port), 60_000);
  } catch (error) {
    await running.stop();
    throw error;
  }
  return running;
}

function serverArguments(options: TemporalOptions): string[] {
  return [
    ...['server', 'start-dev', '--ip', host, '--port', String(options.port), '--namespace', namespace, '--log-level', 'warn'],
    ...(options.uiPort === undefined ? ['--headless'] : ['--ui-port', String(options.uiPort)]),
    ...(options.databaseFile === undefined ? [] : ['--db-filename', options.databaseFile]),
    ...fairness.flatMap((setting) => ['--dynamic-config-value', setting]),
  ];
}

async function isReady(port: number): Promise<boolean> {
  if (!(await acceptsConnection(port))) return false;
  const connection = Connection.lazy({ address: `${host}:${port}` });
  try {
    return await connection.withDeadline(Date.now() + 2000, async () => {
      await keepFinishedWorkflows(connection);
      await connection.operatorService.listSearchAttributes({ namespace });
      return true;
    });
  } catch {
    // The parts of the server come up one by one; a lasting fault ends at the caller's time limit, with the server's log.
    return false;
  } finally {
    await connection.close();
  }
}

function acceptsConnection(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 });
    const end = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false));
  });
}

async function keepFinishedWorkflows(connection: Connection): Promise<void> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  if (optionalTsToMs(config?.workflowExecutionRetentionTtl) === retentionMs) return;
  await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl: msToTs(retentionMs) } });
}
