import { Connection } from '@temporalio/client';
import { msToTs, optionalTsToMs } from '@temporalio/common/lib/time.js';
import { rotate } from './log-files.ts';
import { acceptsConnection } from './ports.ts';
import type { RunningProcess, Supervisor } from './supervise.ts';
import { findTemporalCli } from './temporal-cli.ts';

const host = '127.0.0.1';
const retentionMs = 30 * 24 * 3600 * 1000;

/**
 * What task queues need to be fair between tenants: each of their partitions is fair by itself only, and hands tasks of the first five seconds
 * to the others in no fair order, so tasks are written to one. All are still read: an earlier release wrote to them.
 */
const fairness = ['matching.useNewMatcher=true', 'matching.enableFairness=true', 'matching.numTaskqueueWritePartitions=1'];

/**
 * More than twice as many workflows a second as without. What was acknowledged survives a kill. The last of it may not survive a power
 * cut: the sweep then starts the workflows of jobs again.
 */
const fileSettings = ['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=normal'];

export interface TemporalOptions {
  port: number;
  /** Made when it is absent; there always is one that is called `default`. */
  namespace: string;
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
 * Starts Temporal's development server on 127.0.0.1, and waits until its namespace answers, keeps finished workflows for 30 days and
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
    await supervisor.waitUntilReady(running, () => isReady(options), 60_000);
  } catch (error) {
    await running.stop();
    throw error;
  }
  return running;
}

function serverArguments(options: TemporalOptions): string[] {
  return [
    ...['server', 'start-dev', '--ip', host, '--port', String(options.port), '--namespace', options.namespace, '--log-level', 'warn'],
    ...(options.uiPort === undefined ? ['--headless'] : ['--ui-port', String(options.uiPort)]),
    ...(options.databaseFile === undefined ? [] : ['--db-filename', options.databaseFile, ...fileSettings]),
    ...fairness.flatMap((setting) => ['--dynamic-config-value', setting]),
  ];
}

async function isReady({ port, namespace }: TemporalOptions): Promise<boolean> {
  if (!(await acceptsConnection(host, port))) return false;
  const connection = Connection.lazy({ address: `${host}:${port}` });
  try {
    return await connection.withDeadline(Date.now() + 2000, async () => {
      await keepFinishedWorkflows(connection, namespace);
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

async function keepFinishedWorkflows(connection: Connection, namespace: string): Promise<void> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  if (optionalTsToMs(config?.workflowExecutionRetentionTtl) === retentionMs) return;
  await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl: msToTs(retentionMs) } });
}
