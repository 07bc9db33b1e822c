import { connect } from 'node:net';
import { Connection } from '@temporalio/client';
import { msToTs, optionalTsToMs } from '@temporalio/common/lib/time.js';
import { rotate } from './log-file.ts';
import type { RunningProcess, Supervisor } from './supervise.ts';
import { findTemporalCli } from './temporal-cli.ts';

const host = '127.0.0.1';
/** Where `npm run ops -- codec-server` listens unless it is told otherwise. */
export const codecServerPort = 8234;

const retentionMs = 30 * 24 * 3600 * 1000;

/**
 * Makes task queues fair between tenants. Each partition of a queue is fair only within itself, and forwards tasks of the first five seconds
 * to others in no fair order, so tasks are written to one partition. All are still read, since an earlier release wrote to them.
 */
const fairness = ['matching.useNewMatcher=true', 'matching.enableFairness=true', 'matching.numTaskqueueWritePartitions=1'];

/**
 * Detects within 15 seconds that a worker is gone without closing its connection. By default it takes 70, in which the lost worker still
 * gets tasks, each of which waits until it times out.
 */
const deadConnections = ['frontend.keepAliveTime="10s"', 'frontend.keepAliveTimeout="5s"'];

/** Otherwise the server tells its vendor once a day its version, those of its clients, and an id of its own. */
const tellsNobody = ['frontend.enableServerVersionCheck=false'];

/** The settings that Temporal gets, as `name=JSON`: those of ops/deploy/dynamicconfig. */
export const dynamicSettings = [...fairness, ...deadConnections, ...tellsNobody];

/**
 * Doubles the number of workflows a second. Acknowledged writes survive a kill of the process. The last ones may not survive a power cut:
 * the sweep then starts the workflows of jobs again.
 */
const fileSettings = ['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=normal'];

interface TemporalOptions {
  port: number;
  /** Made if it is absent; `default` always exists. */
  namespace: string;
  /** The port of the web UI, which runs only if this is given. */
  uiPort?: number;
  /** Whether payloads are encrypted, so that the web UI asks a codec server of this machine to show them. */
  encrypted?: boolean;
  /** Keeps the workflows; without a file they are in memory. */
  databaseFile?: string;
  logFile: string;
  /** Called when something takes longer than usual. */
  note?: (message: string) => void;
}

/**
 * Starts Temporal's development server on 127.0.0.1, and waits until its namespace can be used and keeps finished workflows for 30 days.
 * Installs the program first if it is missing. Throws ProcessError if the server cannot start.
 */
export async function startTemporal(supervisor: Supervisor, options: TemporalOptions): Promise<RunningProcess> {
  const fetchLog = options.logFile.replace(/(\.log)?$/, '-cli.log');
  rotate(fetchLog);
  const command = await findTemporalCli({ supervisor, logFile: fetchLog, note: options.note ?? (() => undefined) });
  const args = serverArguments(options);
  const running = supervisor.run({ name: 'Temporal', command, args, logFile: options.logFile, graceMs: 5000 });
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
    ...(options.uiPort !== undefined && options.encrypted ? ['--ui-codec-endpoint', `http://localhost:${codecServerPort}`] : []),
    ...(options.databaseFile === undefined ? [] : ['--db-filename', options.databaseFile, ...fileSettings]),
    ...dynamicSettings.flatMap((setting) => ['--dynamic-config-value', setting]),
  ];
}

async function isReady({ port, namespace }: TemporalOptions): Promise<boolean> {
  if (!(await acceptsConnection(port))) return false;
  const connection = Connection.lazy({ address: `${host}:${port}` });
  try {
    return await connection.withDeadline(Date.now() + 2000, async () => {
      await keepFinishedWorkflows(connection, namespace);
      await connection.operatorService.listSearchAttributes({ namespace });
      return true;
    });
  } catch {
    // The parts of the server start one by one. A lasting fault ends at the caller's time limit, with the server's log.
    return false;
  } finally {
    await connection.close();
  }
}

/** Says whether a connection to the port of this machine is accepted, within a second. */
export function acceptsConnection(port: number): Promise<boolean> {
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

async function keepFinishedWorkflows(connection: Connection, namespace: string): Promise<void> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  if (optionalTsToMs(config?.workflowExecutionRetentionTtl) === retentionMs) return;
  await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl: msToTs(retentionMs) } });
}
